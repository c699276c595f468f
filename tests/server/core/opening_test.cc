// Commands that need a long collection that is not in memory wait until it is read, and others come
// in between (storage/lists/list_opening.h).
#include <gtest/gtest.h>

#include <string>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

constexpr int kElements = 9'000;

class Opening : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeServer before({}, disk_);
    const auto client = before.connect();
    for (int i = 0; i < kElements; ++i) {
      const std::string number = std::to_string(i);
      client->push(request({"ZADD", "z", number, "m" + number}) + request({"RPUSH", "l", number}));
    }
    before.run_turns();
    server_ = std::make_unique<FakeServer>(Config{}, disk_);
    one_ = server_->connect();
    other_ = server_->connect();
  }
  // One turn.
  std::string turn(FakeClient& client) {
    for (Session* session : (*server_)->sessions().holds().take_runnable())
      session->resume(server_->commands_max);
    server_->end_turn();
    return client.take();
  }

  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<FakeClient> one_, other_;
};

const std::string kLastScore = bulk(std::to_string(kElements - 1));
const std::string kLastMember = "m" + std::to_string(kElements - 1);

TEST_F(Opening, OthersAreServedMeanwhile) {
  one_->push(request({"ZSCORE", "z", kLastMember}) + request({"ECHO", "behind"}));
  server_->end_turn();
  EXPECT_EQ(one_->take(), "");
  other_->push(request({"SET", "k", "v"}));
  server_->end_turn();
  EXPECT_EQ(other_->take(), "+OK\r\n");
  EXPECT_EQ(one_->take(), "");
  server_->run_turns();
  EXPECT_EQ(one_->take(), kLastScore + bulk("behind"));
}

TEST_F(Opening, ManyWhoWaitReadItOnce) {
  one_->push(request({"ZSCORE", "z", kLastMember}));
  other_->push(request({"ZSCORE", "z", "m0"}));
  int turns = 0;
  std::string replies;
  while (replies.empty() && ++turns < 30) replies = turn(*one_);
  EXPECT_EQ(replies, kLastScore);
  EXPECT_LE(turns, kElements / 1000 + 1);
  server_->run_turns();
  EXPECT_EQ(other_->take(), bulk("0"));
}

// A pause of writers is no business of a reader who waits for a long list.
TEST_F(Opening, APauseOfWritersDoesNotHoldUpAReader) {
  EXPECT_EQ(other_->call({"CLIENT", "PAUSE", "100000", "WRITE"}), "+OK\r\n");
  one_->push(request({"ZSCORE", "z", kLastMember}));
  server_->run_turns();
  EXPECT_EQ(one_->take(), kLastScore);
}

// The tries before the last are no calls: neither counted, nor timed, nor slow.
TEST_F(Opening, TriesAreNotInTheMetrics) {
  EXPECT_EQ(other_->call({"CONFIG", "SET", "slowlog-log-slower-than", "0"}), "+OK\r\n");
  EXPECT_EQ(other_->call({"SLOWLOG", "RESET"}), "+OK\r\n");
  EXPECT_EQ(one_->call({"ZSCORE", "z", kLastMember}), kLastScore);
  const Executor& executor = (*server_)->executor();
  const CommandMetrics& metrics = executor.metrics(*executor.table().find("zscore"));
  EXPECT_EQ(metrics.calls, 1u);
  EXPECT_EQ(metrics.timed, 1u);
  EXPECT_EQ(other_->call({"SLOWLOG", "LEN"}), ":2\r\n");  // RESET and ZSCORE
}

// Every try but the last leaves nothing, not even in the metrics.
TEST_F(Opening, TheCommandIsRunOnce) {
  EXPECT_EQ(one_->call({"ZINCRBY", "z", "5", "m0"}), bulk("5"));
  EXPECT_EQ((*server_)->report().stats.commands, 1u);
  EXPECT_EQ(one_->session().activity().commands(), 1u);
  EXPECT_EQ(one_->call({"ZSCORE", "z", "m0"}), bulk("5"));
  EXPECT_EQ((*server_)->report().stats.keyspace_hits, 1u);
}

TEST_F(Opening, AScriptIsRunAnewAsAWhole) {
  constexpr std::string_view kScript =
      "redis.call('INCR', 'runs') redis.pcall('ZINCRBY', 'z', 5, 'm0') "
      "redis.call('LPUSH', 'l', 'x') return redis.call('LLEN', 'l') .. ' ' .. redis.call('GET', "
      "'runs')";
  EXPECT_EQ(one_->call({"EVAL", kScript, "0"}), bulk(std::to_string(kElements + 1) + " 1"));
  EXPECT_EQ(one_->call({"ZSCORE", "z", "m0"}), bulk("5"));
}

// A try that wrote before it met the list is taken back in the turn in which it ran: nobody sees
// its half between the tries, it is in no turn's record, and no message of it leaves.
TEST_F(Opening, ATryThatHasWrittenLeavesNothingMeanwhile) {
  EXPECT_EQ(other_->call({"RPUSH", "short", "a", "b"}), ":2\r\n");
  const auto listener = server_->connect();
  listener->call({"SUBSCRIBE", "news"});
  const size_t logged = disk_->log.size();
  one_->push(request({"EVAL",
                      "redis.call('INCR', 'runs') redis.call('LPOP', 'short') "
                      "redis.call('HSET', 'new', 'f', 'v') redis.call('PUBLISH', 'news', 'x') "
                      "redis.call('DEL', 'short') return redis.call('ZINCRBY', 'z', 5, 'm0')",
                      "0"}));
  server_->end_turn();
  EXPECT_EQ(one_->take(), "");
  other_->push(request({"LRANGE", "short", "0", "-1"}) + request({"EXISTS", "runs", "new"}) +
               request({"DBSIZE"}) + request({"SET", "k", "v"}));
  server_->end_turn();
  EXPECT_EQ(other_->take(), "*2\r\n" + bulk("a") + bulk("b") + ":0\r\n:3\r\n+OK\r\n");
  EXPECT_EQ(listener->take(), "");
  EXPECT_EQ(one_->take(), "");
  // The turn of SET has a record now, with nothing of the script in it.
  EXPECT_GT(disk_->log.size(), logged);
  for (size_t i = logged; i < disk_->log.size(); ++i) {
    for (const std::string key : {"runs", "short", "new"})
      EXPECT_EQ(disk_->log[i].record.find(key), std::string::npos) << key;
  }
  FakeServer found({}, disk_->after_kill());
  const auto finder = found.connect();
  EXPECT_EQ(finder->call({"LLEN", "short"}), ":2\r\n");
  EXPECT_EQ(finder->call({"EXISTS", "runs", "new"}), ":0\r\n");
  server_->run_turns();
  EXPECT_EQ(one_->take(), bulk("5"));
  EXPECT_EQ(other_->call({"GET", "runs"}), bulk("1"));
  EXPECT_NE(listener->take(), "");
}

// What ran inside a try is not counted, not logged and not shown either: what is known of the
// script is what its last run did.
TEST_F(Opening, WhatATryHasRunIsSeenOnce) {
  other_->call({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  other_->call({"CONFIG", "SET", "notify-keyspace-events", "KEA"});
  const auto monitor = server_->connect();
  monitor->call({"MONITOR"});
  const auto listener = server_->connect();
  listener->call({"PSUBSCRIBE", "__keyspace@0__:*"});
  other_->call({"SLOWLOG", "RESET"});
  monitor->take();
  one_->call({"EVAL",
              "redis.call('INCR', 'runs') redis.pcall('INCR', 'l') redis.call('RL.TAKE', 'k', "
              "'GCRA', '1/1s') return redis.call('ZINCRBY', 'z', 5, 'm0')",
              "0"});
  const Executor& executor = (*server_)->executor();
  for (const char* name : {"eval", "incr", "rl.take", "zincrby"}) {
    const CommandMetrics& metrics = executor.metrics(*executor.table().find(name));
    const bool twice = std::string_view(name) == "incr";
    EXPECT_EQ(metrics.calls, twice ? 2u : 1u) << name;
    EXPECT_EQ(metrics.failed, twice ? 1u : 0u) << name;
    EXPECT_LE(metrics.timed, 1u) << name;
  }
  EXPECT_EQ((*server_)->limiters().verdicts.of(Outcome::kAllowed), 1u);
  EXPECT_EQ(other_->call({"SLOWLOG", "LEN"}), ":6\r\n");  // RESET, the script and its four
  const std::string shown = monitor->take();
  EXPECT_EQ(shown.find("INCR\" \"runs"), shown.rfind("INCR\" \"runs"));
  EXPECT_NE(shown.find("INCR\" \"runs"), std::string::npos);
  const std::string heard = listener->take();
  EXPECT_EQ(heard.find("incrby"), heard.rfind("incrby"));
  EXPECT_NE(heard.find("incrby"), std::string::npos);
}

TEST_F(Opening, ATransactionIsNotInterrupted) {
  one_->push(request({"MULTI"}) + request({"INCR", "runs"}) + request({"ZINCRBY", "z", "5", "m0"}) +
             request({"INCR", "runs"}) + request({"EXEC"}));
  server_->end_turn();
  EXPECT_EQ(one_->take(),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n" + bulk("5") + ":2\r\n");
}

TEST_F(Opening, WhoWaitsForAKeyGetsWhatItIsRenamedTo) {
  one_->push(request({"BLPOP", "awaited", "0"}));
  server_->end_turn();
  EXPECT_EQ(other_->call({"RENAME", "l", "awaited"}), "+OK\r\n");
  EXPECT_EQ(one_->take(), "*2\r\n" + bulk("awaited") + bulk("0"));
  EXPECT_EQ(other_->call({"LLEN", "awaited"}), ":" + std::to_string(kElements - 1) + "\r\n");
}

TEST_F(Opening, AClientThatLeavesLeavesNothing) {
  one_->push(request({"ZINCRBY", "z", "5", "m0"}));
  server_->end_turn();
  one_->leave();
  EXPECT_EQ(other_->call({"ZSCORE", "z", "m0"}), bulk("0"));
  EXPECT_EQ(other_->call({"DEL", "z"}), ":1\r\n");
  EXPECT_EQ(other_->call({"ZADD", "z", "1", "new"}), ":1\r\n");
  EXPECT_EQ(other_->call({"ZCARD", "z"}), ":1\r\n");
}

TEST_F(Opening, WhatIsDroppedMeanwhileIsAbsent) {
  one_->push(request({"ZSCORE", "z", "m0"}));
  server_->end_turn();
  other_->push(request({"FLUSHALL"}));
  server_->end_turn();
  server_->run_turns();
  EXPECT_EQ(one_->take(), "$-1\r\n");
}

}  // namespace
}  // namespace weir::server
