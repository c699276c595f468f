// Feeds a whole server arbitrary bytes through several sessions: requests cut anywhere, turns that
// end anywhere, time that jumps, a store that fails, clients that go and processes that die.
//
// Demands that nothing aborts, that every reply decodes, and that there are no more replies than
// requests.
//
// Input: four bytes of configuration, then operations. The low three bits of an operation's first
// byte say what it is, the next two for which session:
//     0, 1, 2  a chunk: one byte of length (for 2, two bytes, low first), then so many bytes
//     3        the turn ends, and the replies are read
//     4        a chore tick
//     5        time write-backs: one byte, the exponent of 2 in nanoseconds
//     6        one byte says what goes wrong (see misfortune())
//     7        the session's kept requests go on
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time_units.h"
#include "resp/value.h"
#include "tests/fuzz/fuzz_server.h"

namespace {

using weir::kNsPerS;
using weir::fuzz::check;
using weir::fuzz::ExactCopy;
using weir::fuzz::FuzzServer;
using weir::fuzz::Input;
using weir::server::Config;
using weir::server::Session;

constexpr size_t kSessions = 4;

// Commands may raise these; here they bound the time and memory of one input.
void bound(Config* config) {
  config->proto_max_bulk_len = std::min<int64_t>(config->proto_max_bulk_len, 64 << 10);
  config->client_query_buffer_limit =
      std::min<int64_t>(config->client_query_buffer_limit, 128 << 10);
  config->maxclients = std::max<int64_t>(config->maxclients, kSessions);
  config->protected_mode = false;
}

Config config_from(Input* input) {
  Config config;
  config.storage = weir::server::StorageForm::kMemory;
  const uint8_t policies = input->byte();
  config.durability = static_cast<weir::server::DurabilityLevel>(policies % 3);
  config.storage_failure_policy = static_cast<weir::server::FailurePolicy>(policies >> 2 & 1);
  config.enable_debug_command = weir::server::DebugAccess::kYes;
  if (policies & 8) config.requirepass = "secret";
  if (policies & 16) config.databases = 2;
  if (policies & 32) config.timeout = 10;
  const uint8_t bounds = input->byte();
  if (bounds & 1) config.proto_inline_max_bytes = 64;
  if (bounds & 2) config.multibulk_count_max = 8;
  if (bounds & 4) config.proto_max_bulk_len = 256;
  if (bounds & 8) config.client_query_buffer_limit = 512;
  if (bounds & 16) config.client_output_buffer_limit.normal = {1000, 500, 1};
  config.maxmemory = (bounds & 32) ? 4'000 : 10'000'000;
  const uint8_t write_back = input->byte();
  config.write_back_interval_ms = (write_back & 1) ? 1 : 5000;
  config.write_back_entries_max = (write_back & 2) ? 3 : 1'000'000;
  config.wal_bytes_max = (write_back & 4) ? 200 : 1'000'000;
  bound(&config);
  return config;
}

// One connection, and what has come back over it.
struct Client {
  Session* session = nullptr;
  std::string received;
  uint64_t replies = 0;
};

class World {
 public:
  explicit World(Input* input)
      : input_(*input),
        config_(config_from(input)),
        bits_(input->byte()),
        server_(config_, (bits_ & 1) != 0) {}

  void run() {
    while (!input_.empty() && !server_->shutdown.requested) {
      operate();
      bound(&server_->config());
    }
    end_turn();
    check(server_.close().ok() || server_->keys().store_in_use().failed());
  }

 private:
  void start_on(std::shared_ptr<weir::storage::MemoryDisk> disk) {
    server_.start_on(std::move(disk));
    clients_ = {};
  }

  void operate() {
    const uint8_t operation = input_.byte();
    Client* client = &clients_[operation >> 3 & 3];
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
        return server_.tick();
      case 5:
        return server_.clock().pass(int64_t{1} << (input_.byte() & 63) % 47);
      case 6:
        return misfortune(client, input_.byte());
      default:
        for (Session* session : server_->sessions().holds().take_runnable())
          session->resume(1 + (operation >> 5));
    }
  }

  void send(Client* client, std::string_view bytes) {
    if (client->session == nullptr) {
      const auto session = server_->connect({});
      if (!session) return;
      *client = {.session = *session};
    }
    client->session->receive(ExactCopy(bytes).view(), 100);
  }

  void end_turn() {
    server_->serve_waiting();
    server_->end_turn();
    for (Client& client : clients_) {
      if (client.session != nullptr) read(&client, SIZE_MAX);
    }
  }

  void read(Client* client, size_t bytes_max) {
    Session* session = client->session;
    while (bytes_max > 0 && !session->output().empty()) {
      const std::string_view output = session->output().substr(0, bytes_max);
      client->received.append(output);
      session->mark_sent(output.size());
      bytes_max -= output.size();
    }
    size_t at = 0, consumed = 0;
    weir::resp::Value value;
    weir::resp::DecodeStatus status;
    while ((status = weir::resp::decode(std::string_view(client->received).substr(at), &value,
                                        &consumed)) == weir::resp::DecodeStatus::kValue) {
      at += consumed;
      ++client->replies;
    }
    check(status == weir::resp::DecodeStatus::kNeedMore);
    client->received.erase(0, at);
    check(client->replies <= session->activity().commands() + 1);  // and one for a broken protocol
    if (session->dead() || (session->closing() && session->replies().unsent_bytes() == 0))
      leave(client);
  }

  void leave(Client* client) {
    if (client->session != nullptr) server_->disconnect(client->session);
    *client = {};
  }

  void misfortune(Client* client, uint8_t what) {
    weir::storage::MemoryFaults& faults = server_.faults();
    const uint64_t when = 1 + (what >> 6);
    switch (what & 15) {
      case 0:
        return leave(client);
      case 1:
        return server_.clock().step(kNsPerS << (what >> 4));
      case 2:
        return server_.clock().step(-(kNsPerS << (what >> 4)));
      case 3:
        faults.append_lost = when;
        return;
      case 4:
        faults.append_kept = when;
        return;
      case 5:
        faults.sync = when;
        return;
      case 6:
        faults.write_back = when;
        return;
      case 7:
        faults.get = when;
        return;
      case 8:
        faults.cursor = when;
        return;
      case 9:
        faults.disk_full = (what & 16) != 0;
        return;
      case 10:
      case 11:
        return start_on((what & 1) ? server_.disk()->after_kill()
                                   : server_.disk()->after_power_cut({what & 16u, true}));
      default:
        return server_.step_store();
    }
  }

  Input& input_;
  Config config_;
  uint8_t bits_;
  FuzzServer server_;
  std::array<Client, kSessions> clients_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  Input input(data, size);
  World(&input).run();
  return 0;
}
