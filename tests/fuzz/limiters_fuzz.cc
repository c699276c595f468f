// Several sessions at a few limiter keys: requests of the grammar in limiter_words.h, waiters,
// policies that change in use, clocks that jump, sessions that go, servers that are killed, and
// dumps of limiters that were bent and sealed with the right checksum.
//
// Demands, besides that nothing aborts:
//  1. Every request is answered at most once, and no command meets a bug (internal_errors).
//  2. A verdict makes sense: 0 <= remaining <= limit, it waits exactly if it is denied
//     (limiter_replies.h).
//  3. RL.PEEK answers what RL.TAKE then does, but for a ban it begins, and changes nothing.
//  4. A kill -9 changes no limiter and no policy.
//  5. What RESTORE accepts can be looked at.
//  6. Whoever stands at the head of a queue is due at some instant, and that instant lies ahead.
//     When all clients have left nobody waits.
//  7. DBSIZE equals a walk over the keys, at the latest when the server has rested.
//
// Input: two bytes of configuration, then operations. The low four bits of an operation's first
// byte say what it is (operate()), the next two which session; what follows is theirs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resp/value.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/os/log.h"
#include "server/rdb/envelope.h"
#include "storage/memory/memory_store.h"
#include "tests/fuzz/bent_body.h"
#include "tests/fuzz/fuzz_client.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/limiter_replies.h"
#include "tests/fuzz/limiter_words.h"

namespace weir::fuzz {
namespace {

using server::Config;
using server::Server;
using server::Session;
using storage::MemoryDisk;
using storage::MemoryStore;

constexpr size_t kSessions = 4;
constexpr int kDatabases = 2;
constexpr size_t kFooterBytes = 10;
constexpr int kWaitsAtTheEnd = 40, kQuietRounds = 100;

Config config_from(Input* input) {
  Config config;
  config.storage = server::StorageForm::kMemory;
  config.databases = kDatabases;
  config.protected_mode = false;
  const uint8_t choices = input->byte();
  config.durability = static_cast<server::DurabilityLevel>(choices % 3);
  config.maxmemory = (choices & 4) ? 8'000 : 10'000'000;
  config.write_back_interval_ms = (choices & 8) ? 1 : 5000;
  config.write_back_entries_max = (choices & 16) ? 3 : 1'000'000;
  config.wal_bytes_max = (choices & 32) ? 200 : 1'000'000;
  return config;
}

class World {
 public:
  explicit World(Input* input) : input_(*input), config_(config_from(input)) {
    disk_->deferred = (input->byte() & 1) != 0;
    start();
  }

  void run() {
    while (!input_.empty()) operate();
    end_turn();
    settle();
  }

 private:
  void start() {
    disk_->steady_ns = [this] { return clock_.steady_ns(); };
    server_ = std::make_unique<Server>(
        config_, &clock_, [this] { return std::make_unique<MemoryStore>(disk_); },
        server::command_lists(), server::Seeds());
    server_->limiters().ids.count_up();
    check(server_->open().ok());
    server_->tick();
    clients_ = {};
    probe_ = {};
  }

  void operate() {
    const uint8_t operation = input_.byte();
    Client* client = &clients_[operation >> 4 & 3];
    switch (operation & 15) {
      case 7:
        end_turn();
        return server_->tick();
      case 8:
        return clock_.pass(int64_t{1} << (input_.byte() & 63) % 47);
      case 9:
        return pass_to_next_wait(static_cast<int64_t>(input_.byte() % 3) - 1);
      case 10:
        return step_clock(input_.byte());
      case 11:
        end_turn();
        return leave(client);
      case 12:
        return operation & 128 ? cut_power() : kill();
      case 13:
        return restore_bent();
      case 14:
        return look_and_take();
      case 15:
        server_->keys().work().write_back_now();
        step_store();
        return end_turn();
      default:
        send_command(client, operation);
    }
  }

  void send_command(Client* client, uint8_t operation) {
    std::string line = any_command(&input_);
    if (operation & 128) line = "EVAL return(redis.call(unpack(ARGV))) 1 a " + line;
    send(client, line);
    if ((operation & 64) == 0) end_turn();
  }

  void send(Client* client, const std::string& line) {
    if (client->session == nullptr) {
      *client = {.session = server_->connect({}).value()};
      check(client->session != nullptr);
    }
    trace(name_of(client) + "> " + line);
    client->unanswered.push_back(line);
    client->session->receive(wire_form(line), 100);
  }

  void end_turn() {
    for (int turns = 0; turns == 0 || server_->sessions().holds().has_runnable(); ++turns) {
      for (Session* session : server_->sessions().holds().take_runnable()) session->resume(100);
      server_->serve_waiting();
      check_queues();
      server_->end_turn();
    }
    for (Client& client : clients_) read(&client);
    check(server_->report().stats.internal_errors == 0);
  }

  void read(Client* client) {
    Session* session = client->session;
    if (session == nullptr) return;
    while (!session->output().empty()) {
      client->received.append(session->output());
      session->mark_sent(session->output().size());
    }
    size_t at = 0, consumed = 0;
    Value value;
    while (resp::decode(std::string_view(client->received).substr(at), &value, &consumed) ==
           resp::DecodeStatus::kValue) {
      at += consumed;
      check(!client->unanswered.empty());
      trace(name_of(client) + "< " + client->unanswered.front() + " -> " + resp::to_string(value));
      check_reply(client->unanswered.front(), value);
      client->unanswered.pop_front();
    }
    client->received.erase(0, at);
    if (session->dead() || session->closing()) leave(client);
  }

  std::string name_of(const Client* client) const {
    return std::to_string(client - clients_.data());
  }

  void leave(Client* client) {
    trace(name_of(client) + " leaves");
    if (client->session != nullptr) server_->disconnect(client->session);
    *client = {};
  }

  // Demand 6.
  void check_queues() {
    const int64_t now_ns = server_->timeline().now_ns();
    for (int database = 0; database < kDatabases; ++database) {
      for (const char* key : kKeys) {
        const auto& queue = server_->waiting().queue(database, key);
        if (queue.empty()) continue;
        const server::Waiter& head = *queue.front();
        check(std::min(head.due_ns, head.deadline_ns) != server::kNotDue);
        check(std::min(head.due_ns, head.deadline_ns) > now_ns);
      }
    }
  }

  void pass_to_next_wait(int64_t besides_ns) {
    const int64_t wait_ns = server_->next_wait_ns();
    trace("write-backs to the next wait: " + std::to_string(wait_ns));
    if (wait_ns != server::kNotDue) clock_.pass(std::max<int64_t>(wait_ns + besides_ns, 0));
    end_turn();
  }

  void step_clock(uint8_t how) {
    const int64_t width_ns = kNsPerMs << (how >> 1) % 38;
    trace("the clock steps by " + std::to_string(how & 1 ? width_ns : -width_ns));
    clock_.step(how & 1 ? width_ns : -width_ns);
    end_turn();
    server_->tick();  // writes a step back, so a kill does not lose it
  }

  void step_store() {
    while (static_cast<MemoryStore&>(*server_->keys().store_in_use()).step()) {
    }
  }

  // What a session of the harness is answered; its turns are the others' turns.
  Value ask(int database, const std::string& request) {
    if (probe_.session == nullptr) {
      probe_ = {.session = server_->connect({}).value()};
      check(probe_.session != nullptr);
    }
    probe_.session->receive(wire_form("SELECT " + std::to_string(database)) + request, 100);
    for (int turns = 0;; ++turns) {
      end_turn();
      probe_.received.append(probe_.session->output());
      probe_.session->mark_sent(probe_.session->output().size());
      Value value;
      size_t first = 0, second = 0;
      if (resp::decode(probe_.received, &value, &first) == resp::DecodeStatus::kValue &&
          resp::decode(std::string_view(probe_.received).substr(first), &value, &second) ==
              resp::DecodeStatus::kValue) {
        probe_.received.erase(0, first + second);
        trace("probe " + resp::to_string(value));
        return value;
      }
      check(turns < 1000);
      step_store();  // a reply may wait for its sync
    }
  }
  Value ask_line(int database, const std::string& line) {
    trace("probe asks " + line);
    return ask(database, wire_form(line));
  }

  // All that a kill must leave as it is: dumps by key, and policies.
  struct Kept {
    std::string bytes;
    int64_t expire_at_ms = 0;
  };
  std::map<std::string, Kept> keep() {
    std::map<std::string, Kept> kept;
    for (int database = 0; database < kDatabases; ++database) {
      for (const std::string key : kKeys) {
        const Value dump = ask_line(database, "DUMP " + key);
        if (dump.is_null()) continue;
        check(!dump.is_error());
        kept[std::to_string(database) + key] = {dump.text,
                                                ask_line(database, "PEXPIRETIME " + key).integer};
      }
    }
    for (const std::string name : kPolicies) {
      kept[name] = {resp::to_string(ask_line(0, "RL.POLICY GET " + name)), -1};
    }
    return kept;
  }

  // Sessions that were held back for a late write-back go on when the harness lets the store work.
  uint64_t progress() const {
    uint64_t sum = 0;
    for (const Client& client : clients_) sum += client.progress();
    return sum;
  }

  // Demand 4.
  void kill() {
    trace("kill");
    end_turn();
    auto before = keep();
    for (uint64_t at = progress() + 1; progress() != at; before = keep()) at = progress();
    disk_ = disk_->after_kill();
    start();
    const auto after = keep();
    const int64_t now_ms = server_->timeline().now_ns() / kNsPerMs;
    for (const auto& [name, kept] : before) {
      const auto found = after.find(name);
      if (found == after.end()) {
        check(kept.expire_at_ms >= 0 && kept.expire_at_ms <= now_ms);
      } else {
        check(found->second.bytes == kept.bytes);
      }
    }
    for (const auto& [name, kept] : after) check(before.contains(name));
  }

  void cut_power() {
    trace("power cut");
    end_turn();
    disk_ = disk_->after_power_cut({.unsynced_turns_kept = input_.byte() % 4u, .torn = true});
    start();
  }

  // Demand 3, if nobody's request ran in between. A look at a policy's limits changes nothing
  // either.
  void look_and_take() {
    end_turn();
    const uint64_t at = progress();
    const std::string key = any_key(&input_), dump = "DUMP " + key;
    const std::string words = key + " " + any_limits(&input_) + any_cost(&input_);
    const Value before = ask_line(0, dump);
    const Value seen = ask_line(0, "RL.PEEK " + words);
    const Value after = ask_line(0, dump);
    const Value taken = ask_line(0, "RL.TAKE " + words);
    check_reply("RL.PEEK " + words, seen);
    check_reply("RL.TAKE " + words, taken);
    if (progress() != at) return;
    check(after == before);
    check(seen.is_error() == taken.is_error());
    if (seen.is_error()) return;
    check(seen.elements[0] == taken.elements[0] && seen.elements[1] == taken.elements[1]);
    if (seen.elements[0].integer == 1 || seen.elements[3] == taken.elements[3]) return;
    check(field(ask_line(0, "RL.INFO " + key), "banned_ms").integer > 0);
  }

  // Demand 5.
  void restore_bent() {
    const std::string source = any_key(&input_), target = any_key(&input_);
    const Value dump = ask_line(0, "DUMP " + source);
    if (dump.type == Value::Type::kBulk) last_dump_ = dump.text;
    if (last_dump_.empty()) return;
    std::string body = last_dump_.substr(0, last_dump_.size() - kFooterBytes);
    for (int changes = input_.byte() % 6; changes > 0; --changes) bend(&input_, &body);
    server::rdb::seal(&body);
    const Value answer =
        ask(0, "*5\r\n$7\r\nRESTORE\r\n$1\r\n" + target + "\r\n$1\r\n0\r\n$" +
                   std::to_string(body.size()) + "\r\n" + body + "\r\n$7\r\nREPLACE\r\n");
    if (answer.is_error()) return check(answer.text.starts_with("ERR "));
    const Value info = ask_line(0, "RL.INFO " + target);
    info.is_error() ? check(info.text.starts_with("WRONGTYPE")) : check_info(info);
  }

  // What has expired unseen on the disk leaves it with a write-back.
  void rest() {
    ask_line(0, "SET rests 1");
    clock_.pass(kNsPerS);
    server_->tick();
    server_->keys().work().write_back_now();
    end_turn();
    step_store();
  }

  bool sizes_are_right(int database) {
    const auto size = static_cast<size_t>(ask_line(database, "DBSIZE").integer);
    return size == ask_line(database, "KEYS *").elements.size();
  }

  // Demands 6 and 7, when nothing happens any more.
  void settle() {
    for (int waits = 0; waits < kWaitsAtTheEnd && !server_->waiting().empty(); ++waits) {
      check(server_->next_wait_ns() != server::kNotDue);
      pass_to_next_wait(0);
    }
    for (Client& client : clients_) leave(&client);
    end_turn();
    check(server_->waiting().empty());
    for (int rounds = 0; !sizes_are_right(0) || !sizes_are_right(1); ++rounds) {
      check(rounds < kQuietRounds);
      rest();
    }
    check(server_->close().ok());
  }

  Input& input_;
  FuzzClock clock_;
  Config config_;
  std::shared_ptr<MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<Server> server_;
  std::array<Client, kSessions> clients_;
  Client probe_;
  std::string last_dump_;
};

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  weir::fuzz::Input input(data, size);
  weir::fuzz::World(&input).run();
  return 0;
}
