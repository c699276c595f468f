// Feeds RESTORE arbitrary bodies whose version and checksum are right, and demands that one of two
// things happens: an error line, and no key is there; or a value that can be read whole, is not
// empty, and whose own dump makes the same value again. A limiter that came in so is then used.
//
// Input: the body.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resp/value.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/os/log.h"
#include "server/rdb/body.h"
#include "server/rdb/envelope.h"
#include "server/types/dump_limiter.h"
#include "storage/memory/memory_store.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using weir::server::Server;
using weir::server::Session;
using Words = std::vector<std::string_view>;

void check(bool holds) {
  if (!holds) std::abort();
}

class FuzzClock : public weir::server::Clock {
 public:
  int64_t wall_ns() override { return now_ns_; }
  int64_t steady_ns() override { return now_ns_; }
  void sleep_ns(int64_t) override {}

 private:
  int64_t now_ns_ = 1'700'000'000'123'456'789;
};

class World {
 public:
  World()
      : server_(
            {}, &clock_, [this] { return store(); }, weir::server::command_lists(),
            weir::server::Seeds()) {
    check(server_.open().ok());
    const auto session = server_.connect({});
    check(session.ok());
    session_ = *session;
  }
  ~World() {
    server_.disconnect(session_);
    server_.end_turn();
    check(server_.close().ok());
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The reply, which is one.
  std::string ask(const Words& words) {
    std::string request = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) {
      request.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
    }
    session_->receive(request, 100);
    server_.serve_waiting();
    server_.end_turn();
    std::string reply(session_->output());
    session_->mark_sent(reply.size());
    weir::resp::Value value;
    size_t consumed = 0;
    check(weir::resp::decode(reply, &value, &consumed) == weir::resp::DecodeStatus::kValue);
    check(consumed == reply.size());
    return reply;
  }

 private:
  std::unique_ptr<weir::storage::Store> store() {
    return std::make_unique<weir::storage::MemoryStore>(disk_);
  }

  FuzzClock clock_;
  std::shared_ptr<weir::storage::MemoryDisk> disk_ = weir::storage::make_memory_disk({1, 2});
  Server server_;
  Session* session_ = nullptr;
};

// Of a bulk string.
std::string_view text_of(std::string_view reply) {
  check(reply.starts_with('$'));
  reply.remove_prefix(reply.find('\n') + 1);
  reply.remove_suffix(2);
  return reply;
}

std::string contents(World* world, std::string_view type, std::string_view key) {
  if (type == "+string\r\n") return world->ask({"GET", key});
  if (type == "+list\r\n") return world->ask({"LRANGE", key, "0", "-1"});
  if (type == "+set\r\n") return world->ask({"SMEMBERS", key});
  if (type == "+hash\r\n") return world->ask({"HGETALL", key});
  if (type == "+zset\r\n") return world->ask({"ZRANGE", key, "0", "-1", "WITHSCORES"});
  check(type == "+limiter\r\n");
  return world->ask({"RL.INFO", key});
}

void use_limiter(World* world) {
  world->ask({"RL.PEEK", "k", "SLIDINGLOG", "5/10s", "COST", "2"});
  world->ask({"RL.TAKE", "k", "SLIDINGLOG", "5/10s", "SLIDINGWINDOW", "9/10s", "COST", "2"});
  world->ask({"RL.TAKE", "k", "CONCURRENCY", "3", "LEASE", "10s", "GCRA", "5/10s"});
  world->ask({"RL.RESERVE", "k", "GCRA", "5/10s", "COST", "3"});
  world->ask({"RL.CANCEL", "k", "1"});
  world->ask({"RL.REFUND", "k", "2"});
  world->ask({"RL.INFO", "k"});
  world->ask({"RL.TAKE", "k", "LEAKY", "5/10s", "TOKENBUCKET", "5/10s", "FIXED", "3/10s", "BURSTY",
              "5/10s", "WARMUP", "5/10s", "OVER", "1s", "SLIDINGCOUNTER", "7/10s"});
}

// What is no value for the decoder need not go to the server, which takes its time.
bool is_refused(std::string_view body) {
  if (weir::server::is_limiter_body(body)) return false;
  weir::server::rdb::Value value;
  return weir::server::rdb::read_value(body, &value) != weir::server::rdb::ReadError::kNone;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::prepare();
  static World* const world = new World;  // lives as long as the process
  std::string payload(reinterpret_cast<const char*>(data), size);
  if (is_refused(payload)) return 0;
  weir::server::rdb::seal(&payload);
  world->ask({"DEL", "k", "copy"});
  const std::string answer = world->ask({"RESTORE", "k", "0", payload});
  const std::string type = world->ask({"TYPE", "k"});
  check((answer == "+OK\r\n") == (type != "+none\r\n"));
  if (type == "+none\r\n") {
    check(answer == "-ERR Bad data format\r\n");
    return 0;
  }
  const std::string before = contents(world, type, "k");
  check(before.find("*0\r\n") != 0 && before[0] != '-');
  const std::string dump = world->ask({"DUMP", "k"});
  check(world->ask({"RESTORE", "copy", "0", text_of(dump)}) == "+OK\r\n");
  check(contents(world, type, "copy") == before);
  check(world->ask({"DUMP", "copy"}) == dump);
  check(world->ask({"OBJECT", "ENCODING", "copy"}) == world->ask({"OBJECT", "ENCODING", "k"}));
  if (type == "+limiter\r\n") use_limiter(world);
  return 0;
}
