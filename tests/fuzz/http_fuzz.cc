// Feeds a whole server arbitrary bytes through several clients of HTTP: requests cut anywhere,
// turns that end anywhere, time that jumps, a store that fails, clients that go.
//
// Demands that nothing aborts, that a turn answers at most one request of a client, that each
// answer is whole and as long as it says, that what it calls JSON is JSON, and that no more is
// answered than was asked.
//
// Input: two bytes of configuration, then operations. The low three bits of an operation's first
// byte say what it is, the next two for which client:
//     0, 1     a chunk: one byte of length, then so many bytes
//     2        the same with two bytes of length, low first
//     3        the turn ends, and the answers are read
//     4        a chore tick
//     5        time passes: one byte, the exponent of 2 in nanoseconds
//     6        one byte says what goes wrong (see misfortune())
//     7        a client goes on with what it has sent before, or requests that were held do
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/http/conversation.h"
#include "server/http/format/json.h"
#include "tests/fuzz/fuzz_server.h"

namespace {

using weir::fuzz::check;
using weir::fuzz::ExactCopy;
using weir::fuzz::FuzzServer;
using weir::fuzz::Input;
using weir::server::Config;
using weir::server::Session;
using weir::server::http::Clients;
using weir::server::http::Conversation;
using weir::server::http::ListenerKind;

// The OpenAPI document is the deepest, and has the most members.
constexpr weir::server::http::JsonBounds kAnswerBounds = {.depth_max = 32, .members_max = 1000};
constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";

Config config_from(Input* input) {
  Config config;
  config.storage = weir::server::StorageForm::kMemory;
  const uint8_t byte = input->byte();
  config.durability = static_cast<weir::server::DurabilityLevel>(byte % 3);
  if (byte & 8) config.requirepass = "secret";
  if (byte & 16) config.http_maxclients = 2;
  if (byte & 32) config.limiting = weir::server::Limiting::kShadow;
  config.users = {
      {.place = "here",
       .words = {"shop", "on", ">p", "+rl.take", "~shop:*", "policy~free*", "noinline"}}};
  config.maxmemory = 10'000'000;
  return config;
}

struct Client {
  Session* session = nullptr;
  std::unique_ptr<Conversation> conversation;
};

class World {
 public:
  explicit World(Input* input)
      : input_(*input),
        config_(config_from(input)),
        bits_(input->byte()),
        server_(config_, (bits_ & 1) != 0) {
    if (bits_ & 2) listener_ = ListenerKind::kMetrics;
    clients_ =
        std::make_unique<Clients>(server_.get(), weir::server::http::of_requests(server_.get()));
    server_.run({"RL.POLICY", "SET", "free", "FIXED", "3/1h", "AS", "a", "CONCURRENCY", "2"});
    server_.run({"SET", "text", "1"});
  }

  void run() {
    while (!input_.empty()) operate();
    end_turn();
    for (Client& client : all_) leave(&client);
    (void)server_.close();
  }

 private:
  void operate() {
    const uint8_t operation = input_.byte();
    Client* client = &all_[operation >> 3 & 3];
    switch (operation & 7) {
      case 0:
      case 1:
        return send(client, input_.take(input_.byte()));
      case 2:
        return send(client, take_long(&input_));
      case 3:
        return end_turn();
      case 4:
        end_turn();
        server_.tick();
        return clients_->end_overdue();
      case 5:
        return server_.clock().pass(int64_t{1} << (input_.byte() & 63) % 47);
      case 6:
        return misfortune(client, input_.byte());
      default:
        if (operation & 128) {
          for (Session* session : server_->sessions().holds().take_runnable()) session->resume(1);
        } else if (client->session != nullptr && client->conversation->has_more()) {
          client->conversation->receive({});
        }
    }
  }

  void send(Client* client, std::string_view bytes) {
    if (client->session == nullptr) {
      if (!clients_->make_room()) return;
      const auto session = server_->connect({});
      if (!session) return;
      client->session = *session;
      client->conversation =
          std::make_unique<Conversation>(server_.get(), *session, clients_.get(), listener_);
    }
    if (client->session->closing() || client->conversation->has_more() ||
        !client->conversation->takes_more())
      return;
    bytes = bytes.substr(0, client->conversation->receive_bytes_max());
    client->conversation->receive(ExactCopy(bytes).view());
  }

  void end_turn() {
    server_->serve_waiting();
    server_->end_turn();
    for (Client& client : all_) {
      if (client.session != nullptr) read(&client);
    }
    check(listener_ == ListenerKind::kMetrics || answers_ <= server_->report().stats.http_requests);
  }

  void read(Client* client) {
    std::string text(client->conversation->output());
    if (!text.empty()) client->conversation->mark_sent(text.size());
    check(client->conversation->output().empty());
    if (text.starts_with(kInterim)) text.erase(0, kInterim.size());
    if (!text.empty()) check_answer(text);
    Session* session = client->session;
    if (session->dead() || (session->closing() && session->replies().unsent_bytes() == 0))
      leave(client);
  }

  // One answer, whole, and nothing after it.
  void check_answer(std::string_view text) {
    ++answers_;
    check(text.starts_with("HTTP/1.1 ") && text.size() > 13 && text[12] == ' ');
    const auto status = weir::resp::parse_int64(text.substr(9, 3));
    check(status && *status >= 200 && *status <= 599);
    const size_t end = text.find("\r\n\r\n");
    check(end != text.npos);
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const size_t at = text.find(kLength);
    check(at < end);
    const std::string_view digits = text.substr(at + kLength.size());
    const auto length = weir::resp::parse_int64(digits.substr(0, digits.find('\r')));
    const size_t body = text.size() - end - 4;
    check(length && (body == 0 || body == static_cast<size_t>(*length)));
    for (const char c : text.substr(0, end)) check(!weir::is_control(c) || c == '\r' || c == '\n');
    constexpr std::string_view kJson = "+json\r\n", kPlainJson = "/json\r\n";
    const std::string_view header = text.substr(0, end + 2);
    const bool is_json = header.find(kJson) < end || header.find(kPlainJson) < end;
    if (is_json && body > 0)
      check(weir::server::http::parse_json(text.substr(end + 4), kAnswerBounds).ok());
  }

  void leave(Client* client) {
    if (client->session != nullptr) server_->disconnect(client->session);
    client->conversation.reset();
    client->session = nullptr;
  }

  void misfortune(Client* client, uint8_t what) {
    weir::storage::MemoryFaults& faults = server_.faults();
    const uint64_t when = 1 + (what >> 6);
    switch (what & 7) {
      case 0:
        return leave(client);
      case 1:
        faults.append_lost = when;
        return;
      case 2:
        faults.append_kept = when;
        return;
      case 3:
        faults.sync = when;
        return;
      case 4:
        faults.get = when;
        return;
      case 5:
        return server_.run({"CLIENT", "PAUSE", "1000", "ALL"});
      case 6:
        if (client->session != nullptr) server_->sessions().kill(client->session);
        return;
      default:
        return server_.step_store();
    }
  }

  Input& input_;
  Config config_;
  uint8_t bits_;
  FuzzServer server_;
  std::unique_ptr<Clients> clients_;
  ListenerKind listener_ = ListenerKind::kRequests;
  std::array<Client, 4> all_;
  uint64_t answers_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  Input input(data, size);
  World(&input).run();
  return 0;
}
