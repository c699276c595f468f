// A server follows turns that nobody has made: right ones of every type with something changed, and
// made ones. Then it serves, and is asked and told everything about the keys that they name.
//
// Demands, besides that nothing aborts and nothing takes long:
//  1. A turn is taken, or refused without a trace.
//  2. Every request is answered, once.
//  3. No command meets a bug (internal_errors).
//
// Input: turns, each some entries of which the first byte says what they are, and a byte that says
// what happens afterwards.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resp/value.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "storage/memory/memory_store.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/turn_forger.h"
#include "tests/fuzz/turn_words.h"

namespace weir::fuzz {
namespace {

using server::Server;
using server::Session;
// Hands the turns of its log on.
class ToldStore : public storage::MemoryStore {
 public:
  ToldStore(std::shared_ptr<storage::MemoryDisk> disk, std::vector<std::string>* told)
      : MemoryStore(std::move(disk)), told_(*told) {}
  storage::Status append(uint64_t turn, std::string_view record) override {
    told_.emplace_back(record);
    return MemoryStore::append(turn, record);
  }

 private:
  std::vector<std::string>& told_;
};

class World {
 public:
  explicit World(Input* input) : input_(*input), forger_(input) {
    server::Config config;
    config.storage = server::StorageForm::kMemory;
    config.databases = 2;
    config.protected_mode = false;
    server_ = std::make_unique<Server>(
        config, &clock_, [this] { return std::make_unique<ToldStore>(disk_, &told_); },
        server::command_lists(), server::Seeds());
    server_->limiters().ids.count_up();
    check(server_->open().ok());
    session_ = server_->connect({}).value();
    for (const std::string_view line : kHonest) ask(line, "");
    learn();
  }
  ~World() {
    server_->disconnect(session_);
    server_->end_turn();
    check(server_->close().ok());
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run() {
    for (int turns = 0; turns < 3 && !input_.empty(); ++turns) {
      follow_hostile();
      const uint8_t what = input_.byte();
      if (what & 1) work();
      for (const std::string_view line : kGeneral) ask(line, "");
      for (const std::string& key : forger_.keys()) use(key, what);
      if (what & 2) work();
      learn();
    }
  }

 private:
  void learn() {
    forger_.learn(told_);
    told_.clear();
  }
  void use(const std::string& key, uint8_t what) {
    for (const std::string_view line : kQuestions) ask(line, key);
    for (size_t i = 0; i < std::size(kOrders); ++i) {
      if ((what & 4) == 0 || i % 3 == what / 8 % 3) ask(kOrders[i], key);
    }
  }

  // The reply is one, or none: the session waits.
  void ask(std::string_view line, std::string_view key) {
    std::string wire;
    int words = 0;
    for (size_t at = 0; at < line.size();) {
      const size_t end = std::min(line.find(' ', at), line.size());
      std::string_view word = line.substr(at, end - at);
      if (word == "*" && !key.empty()) word = key;
      wire.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
      at = end + 1;
      ++words;
    }
    trace(std::string(line) + "   of " + std::string(key));
    session_->receive("*" + std::to_string(words) + "\r\n" + wire, 100);
    end_turn();
    for (int waits = 0; session_->output().empty() && waits < 10; ++waits) {
      clock_.pass(kNsPerS);
      end_turn();
    }
    std::string reply(session_->output());
    session_->mark_sent(reply.size());
    resp::Value value;
    size_t consumed = 0;
    check(resp::decode(reply, &value, &consumed) == resp::DecodeStatus::kValue);
    check(consumed == reply.size());
    trace("   -> " + resp::to_string(value));
    check(server_->report().stats.internal_errors == 0);
  }
  void end_turn() {
    for (int turns = 0; turns == 0 || server_->sessions().holds().has_runnable(); ++turns) {
      for (Session* session : server_->sessions().holds().take_runnable()) session->resume(100);
      server_->serve_waiting();
      server_->end_turn();
    }
  }
  void work() {
    keys().work().write_back_now();
    for (int i = 0; i < 20; ++i) {
      clock_.pass(kNsPerMs);
      server_->tick();
      end_turn();
    }
  }
  storage::Keyspace& keys() { return server_->keys(); }

  // The server is demoted, follows a turn, and is promoted again.
  void follow_hostile() {
    set_follows(true);
    check(keys().reopen(storage::Keep::kCommitted).ok());
    const uint64_t turn = keys().turn();
    const std::string record = forger_.turn(keys().metrics().instant_ns + input_.byte() * kNsPerMs);
    const storage::Status status =
        keys().follow({.first_turn = turn + 1, .turns = {&record, 1}, .bookmark = "a bookmark"});
    trace("follow: " + status.message());
    check(status.ok() || status.is_refusal());
    check(keys().turn() == (status.ok() ? turn + 1 : turn));
    clock_.pass(kNsPerS);
    keys().running().begin_command(server_->timeline().now_ns());
    set_follows(false);
    server_->persistence().health.note_other_data();
    server_->scripting().scripts.open();
    server_->scripting().functions.open();
    end_turn();
  }
  void set_follows(bool follows) {
    storage::KeyspaceOptions options = keys().options();
    options.follows = follows;
    keys().set_options(options);
  }

  Input& input_;
  FuzzClock clock_;
  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::vector<std::string> told_;
  std::unique_ptr<Server> server_;
  Session* session_ = nullptr;
  TurnForger forger_;
};

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  weir::fuzz::Input input(data, std::min<size_t>(size, 1000));
  weir::fuzz::World(&input).run();
  return 0;
}
