// Feeds a whole server calls of gRPC through several clients: requests of the rate limit service
// made of the input, and arbitrary bytes; calls cut anywhere and reset, turns that end anywhere,
// time that jumps, a store that fails, clients that go.
//
// Demands that nothing aborts, that what comes back is HTTP/2, that each call is answered once, by
// a status or a response with a status for each descriptor, and that what the server keeps for a
// client has a bound.
//
// Input: two bytes of configuration, then operations. The low three bits of an operation's first
// byte say what it is, the next two for which client:
//     0        a call: one byte of the path, one of length, then so many bytes as its message
//     1        a call of the rate limit service (see any_request()); the high bits say which: 1
//              reserves, 2 commits
//     2        bytes of the connection: one byte of length, then so many bytes. What the client has
//              to send is cut there
//     3        the turn ends, and the answers are read
//     4        a chore tick
//     5        time passes: one byte, the exponent of 2 in nanoseconds
//     6        one byte says what goes wrong (see misfortune())
//     7        what the client has to send arrives: one byte, how much of it in 16 bytes, 0: all;
//              or it goes on with what it has sent before; or requests that were held do
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resp/numbers.h"
#include "server/http/grpc/conversation.h"
#include "server/http/grpc/health.h"
#include "server/http/grpc/reflection.h"
#include "server/limiter/policy/descriptor_rule_lines.h"
#include "tests/fuzz/fuzz_server.h"
#include "tests/server/http/grpc/grpc_client.h"
#include "tests/server/http/grpc/rate_limit_client.h"

namespace {

using namespace weir::server::grpc;
using weir::fuzz::check;
using weir::fuzz::ExactCopy;
using weir::fuzz::FuzzServer;
using weir::fuzz::Input;
using weir::server::Config;
using weir::server::Session;
using weir::server::http::Clients;

constexpr std::string_view kRules =
    "rls d user POLICY user KEY u:{user}\n"
    "rls d user=a* POLICY two HEADERS\n"
    "rls d user,path=/x* POLICY two KEY p:{path}\n"
    "rls d model POLICY user FORCE\n"
    "rls d text POLICY user KEY text\n"
    "rls d gone POLICY gone\n"
    "rls d shade POLICY shade HEADERS\n";

// What a client has the server keep, with all that may be open.
constexpr size_t kKeptMax = 8 << 20;

Config config_from(Input* input) {
  Config config;
  config.storage = weir::server::StorageForm::kMemory;
  const uint8_t byte = input->byte();
  config.durability = static_cast<weir::server::DurabilityLevel>(byte % 3);
  if (byte & 8) config.requirepass = "secret";
  if (byte & 16) config.grpc_maxclients = 2;
  if (byte & 32) config.limiting = weir::server::Limiting::kShadow;
  config.users = {
      {.place = "here", .words = {"shop", "on", ">p", "+rl.take", "~u:*", "policy~user"}}};
  config.maxmemory = 10'000'000;
  return config;
}

struct Caller {
  Session* session = nullptr;
  std::unique_ptr<Conversation> conversation;
  std::unique_ptr<GrpcClient> client;
  std::string to_send;
  bool is_broken = false;                 // it has sent bytes of its own
  std::map<int32_t, size_t> descriptors;  // of its calls of the service
};

class World {
 public:
  explicit World(Input* input)
      : input_(*input),
        config_(config_from(input)),
        bits_(input->byte()),
        server_(config_, (bits_ & 1) != 0) {
    auto rules = weir::server::parse_descriptor_rules(kRules, "", [](auto) { return ""; });
    check(rules.ok());
    server_->limiters().descriptor_rules =
        std::make_shared<const weir::server::DescriptorRules>(std::move(*rules));
    clients_ =
        std::make_unique<Clients>(server_.get(), weir::server::http::of_calls(server_.get()));
    server_.run({"RL.POLICY", "SET", "user", "FIXED", "3/1h"});
    server_.run({"RL.POLICY", "SET", "two", "10/1m", "AS", "a", "FIXED", "5/1d"});
    server_.run({"RL.POLICY", "SET", "shade", "FIXED", "1/1m", "SHADOW"});
    server_.run({"SET", "text", "1"});
  }

  void run() {
    while (!input_.empty()) operate();
    end_turn();
    for (Caller& caller : all_) leave(&caller);
    (void)server_.close();
  }

 private:
  void operate() {
    const uint8_t operation = input_.byte();
    Caller* caller = &all_[operation >> 3 & 3];
    switch (operation & 7) {
      case 0:
        return call(caller);
      case 1:
        return ask(caller, operation >> 5);
      case 2:
        if (!connect(caller)) return;
        caller->is_broken = true;
        caller->to_send += input_.take(input_.byte());
        return;
      case 3:
        return end_turn();
      case 4:
        end_turn();
        server_.tick();
        return clients_->end_overdue();
      case 5:
        return server_.clock().pass(int64_t{1} << (input_.byte() & 63) % 47);
      case 6:
        return misfortune(caller, input_.byte());
      default:
        if (operation & 128) {
          for (Session* session : server_->sessions().holds().take_runnable()) session->resume(1);
        } else {
          go_on(caller, input_.byte());
        }
    }
  }

  TestFields credentials() {
    constexpr const char* kCredentials[] = {"", "", "Basic OnNlY3JldA==", "Basic c2hvcDpw", "x"};
    const std::string chosen = input_.choose(kCredentials);
    if (chosen.empty()) return {};
    return {{"authorization", chosen}};
  }

  void call(Caller* caller) {
    if (!connect(caller)) return;
    constexpr std::string_view kPaths[] = {kShouldRateLimitPath, kHealthCheckPath, "/x",
                                           kCheckRateLimitPath,  kReportPath,      kReservePath,
                                           kCommitPath,          kReflectionPath};
    const std::string_view path = input_.choose(kPaths);
    const std::string_view message = input_.take(input_.byte());
    (void)caller->client->call(path, message, credentials(), (input_.byte() & 1) == 0);
  }

  void ask(Caller* caller, uint8_t method) {
    if (!connect(caller)) return;
    const std::vector<AskedDescriptor> asked = any_request();
    if (method == 1) {
      const std::string request = reserve_bytes("d", asked, input_.byte() % 4, input_.byte());
      (void)caller->client->call(kReservePath, request, credentials());
      return;
    }
    if (method == 2) {
      constexpr const char* kIds[] = {"", "2:1", "2:-", "1:1:2", "3:x"};
      const std::string request = commit_bytes("d", asked, input_.choose(kIds), input_.byte() % 4);
      (void)caller->client->call(kCommitPath, request, credentials());
      return;
    }
    const uint32_t hits = input_.byte() % 4;
    const int32_t stream =
        caller->client->call(kShouldRateLimitPath, request_bytes("d", asked, hits), credentials());
    if (stream > 0) caller->descriptors[stream] = asked.size();
  }

  std::vector<AskedDescriptor> any_request() {
    constexpr const char* kNames[] = {"user", "path", "model", "text", "gone", "shade", "none"};
    constexpr const char* kValues[] = {"a", "b", "/x", "ab", ""};
    std::vector<AskedDescriptor> asked(1 + input_.byte() % 5);
    for (AskedDescriptor& descriptor : asked) {
      const uint8_t what = input_.byte();
      for (int i = what & 1; i >= 0; --i)
        descriptor.entries.emplace_back(input_.choose(kNames), input_.choose(kValues));
      if (what & 2) descriptor.hits = what >> 5;
      descriptor.gives_back = (what & 12) == 12;
      if ((what & 16) != 0)
        descriptor.limit = {input_.byte() % 4, static_cast<Unit>(input_.byte() % 9)};
    }
    return asked;
  }

  bool connect(Caller* caller) {
    if (caller->session != nullptr) return true;
    if (!clients_->make_room()) return false;
    const auto session = server_->connect({});
    if (!session) return false;
    *caller = {};
    caller->session = *session;
    caller->conversation = std::make_unique<Conversation>(server_.get(), *session, clients_.get());
    caller->client = std::make_unique<GrpcClient>();
    return true;
  }

  void go_on(Caller* caller, size_t chunks) {
    if (caller->session == nullptr || caller->session->closing()) return;
    Conversation& conversation = *caller->conversation;
    if (conversation.has_more()) return conversation.receive({});
    caller->to_send += caller->client->bytes();
    if (!conversation.takes_more()) return;
    size_t size = std::min(caller->to_send.size(), conversation.receive_bytes_max());
    if (chunks > 0) size = std::min(size, chunks * 16);
    if (size == 0) return;
    const ExactCopy copy(std::string_view(caller->to_send).substr(0, size));
    caller->to_send.erase(0, size);
    conversation.receive(copy.view());
  }

  void end_turn() {
    server_->serve_waiting();
    server_->end_turn();
    for (Caller& caller : all_) {
      if (caller.session != nullptr) read(&caller);
    }
  }

  void read(Caller* caller) {
    while (!caller->conversation->output().empty()) {
      const std::string bytes(caller->conversation->output());
      caller->conversation->mark_sent(bytes.size());
      if (!caller->is_broken) caller->client->receives(bytes);
    }
    if (!caller->is_broken) check_answers(caller);
    check(caller->conversation->memory_bytes() < kKeptMax);
    Session* session = caller->session;
    if (session->dead() || (session->closing() && session->replies().unsent_bytes() == 0))
      leave(caller);
  }

  static void check_answers(Caller* caller) {
    check(!caller->client->is_confused);
    for (const auto& [stream, answer] : caller->client->answers()) {
      if (!answer.is_over || answer.error != 0) continue;
      const auto status = weir::resp::parse_int64(answer.status());
      check(status && *status >= 0 && *status <= 16);
      if (*status != 0) continue;
      const auto asked = caller->descriptors.find(stream);
      if (asked != caller->descriptors.end()) check_response(answer.message(), asked->second);
    }
  }

  static void check_response(std::string_view response, size_t descriptors) {
    const auto is_verdict = [](uint64_t code) { return code == 1 || code == 2; };
    check(is_verdict(number_in(response, {1})));
    size_t statuses = 0;
    bool is_over = false;
    WireReader reader(response);
    while (reader.next()) {
      if (!reader.is_bytes(2)) continue;
      ++statuses;
      const uint64_t verdict = number_in(reader.bytes(), {1});
      check(is_verdict(verdict));
      is_over |= verdict == 2;
    }
    check(reader.ok() && statuses == descriptors);
    check(is_over == (number_in(response, {1}) == 2));
  }

  void leave(Caller* caller) {
    if (caller->session != nullptr) server_->disconnect(caller->session);
    *caller = {};
  }

  void misfortune(Caller* caller, uint8_t what) {
    weir::storage::MemoryFaults& faults = server_.faults();
    const uint64_t when = 1 + (what >> 6);
    switch (what & 7) {
      case 0:
        return leave(caller);
      case 1:
        faults.append_lost = when;
        return;
      case 2:
        if (caller->session != nullptr) caller->client->reset(2 * (what >> 3) + 1);
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
        if (caller->session != nullptr) server_->sessions().kill(caller->session);
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
  std::array<Caller, 4> all_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  Input input(data, size);
  World(&input).run();
  return 0;
}
