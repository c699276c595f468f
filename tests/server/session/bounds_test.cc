// The bounds on what one request may make of the server: replies, changes, and the buffers of all
// clients together. What passes them is taken back whole, and nobody else notices.
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

Config with_output_limit(int64_t bytes) {
  Config config;
  config.client_output_buffer_limit.normal = {.hard_bytes = bytes};
  return config;
}

bool is_oom(const std::string& reply) { return reply.starts_with("-OOM "); }

TEST(ReplyBound, APipelineOfLargeRepliesEndsItsClientAlone) {
  FakeServer server(with_output_limit(4 * kMb));
  auto bystander = server.connect();
  auto attacker = server.connect();
  bystander->call({"SET", "k", std::string(kMb, 'x')});
  std::string pipeline;
  for (int i = 0; i < 1000; ++i) pipeline += request({"GET", "k"});
  attacker->reads = false;
  attacker->push(pipeline);
  EXPECT_LT(attacker->session().replies().unsent_bytes(), 3 * kMb);  // its slice ended before
  for (int i = 0; i < 10 && !attacker->closed(); ++i) server.run_turns();
  EXPECT_TRUE(attacker->closed());
  EXPECT_EQ(bystander->call({"PING"}), "+PONG\r\n");
}

TEST(ReplyBound, OneCommandStopsAtItAndIsTakenBack) {
  FakeServer server(with_output_limit(4 * kMb));
  auto bystander = server.connect();
  auto attacker = server.connect();
  const std::string megabyte(kMb, 'x');
  bystander->call({"HSET", "h", "f", megabyte});
  attacker->push(request({"HRANDFIELD", "h", "-1048576", "WITHVALUES"}));
  EXPECT_TRUE(attacker->session().dead());
  EXPECT_EQ(attacker->session().replies().unsent_bytes(), 0u);
  server.run_turns();
  EXPECT_TRUE(attacker->closed());
  EXPECT_EQ(bystander->call({"PING"}), "+PONG\r\n");
}

TEST(ReplyBound, ATransactionThatPassesItIsTakenBackWhole) {
  FakeServer server(with_output_limit(4 * kMb));
  auto bystander = server.connect();
  auto attacker = server.connect();
  bystander->call({"SET", "k", std::string(kMb, 'x')});
  bystander->call({"SET", "n", "1"});
  std::string requests = request({"MULTI"}) + request({"INCR", "n"});
  for (int i = 0; i < 8; ++i) requests += request({"GET", "k"});
  attacker->push(requests + request({"EXEC"}));
  server.run_turns();
  EXPECT_TRUE(attacker->closed());
  EXPECT_EQ(bystander->call({"GET", "n"}), bulk("1"));
}

TEST(ReplyBound, AScriptThatPassesItIsTakenBackWhole) {
  Config config = with_output_limit(kMb);
  FakeServer server(config);
  auto bystander = server.connect();
  auto attacker = server.connect();
  attacker->push(
      request({"EVAL", "redis.call('SET', 'n', 1) return string.rep('x', 2000000)", "0"}));
  server.run_turns();
  EXPECT_TRUE(attacker->closed());
  EXPECT_EQ(bystander->call({"GET", "n"}), "$-1\r\n");
}

TEST(ReplyBound, TheReplyToACommandOfAScriptIsBoundedByTheScriptsMemory) {
  Config config;
  config.script_memory_max = 4 * kMb;
  FakeServer server(config);
  auto client = server.connect();
  client->call({"HSET", "h", "f", std::string(kMb, 'x')});
  const std::string reply =
      client->call({"EVAL",
                    "redis.call('SET', 'n', 1) "
                    "return #redis.pcall('HRANDFIELD', 'h', -1000000, 'WITHVALUES')",
                    "0"});
  EXPECT_NE(reply.find("larger than script-memory-max, the script's changes are undone"),
            std::string::npos)
      << reply;
  EXPECT_EQ(client->call({"GET", "n"}), "$-1\r\n");
}

TEST(ReplyBound, KeysStopsAtItToo) {
  FakeServer server(with_output_limit(kMb));
  auto client = server.connect();
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i) + std::string(60'000, 'k');
    EXPECT_EQ(client->call({"SET", key, "1"}), kOk);
  }
  client->push(request({"KEYS", "*"}));
  server.run_turns();
  EXPECT_TRUE(client->closed());
}

TEST(ClientMemory, PastItsBoundTheLargestClientEnds) {
  Config config;
  config.maxmemory_clients = 9 * kMb + kMb / 2;
  FakeServer server(config);
  auto setter = server.connect();
  setter->call({"SET", "k", std::string(kMb, 'x')});
  std::vector<std::unique_ptr<FakeClient>> hoarders;
  for (int i = 1; i <= 4; ++i) {
    hoarders.push_back(server.connect());
    hoarders.back()->reads = false;
    for (int n = 0; n < i; ++n) {
      hoarders.back()->push(request({"GET", "k"}));
      server.run_turns();
    }
  }
  EXPECT_GE(server->sessions().bounds().evicted(), 1u);
  EXPECT_FALSE(hoarders[0]->closed());
  EXPECT_TRUE(hoarders[3]->closed());
  EXPECT_LE(server->sessions().bounds().bytes(), 9u * kMb + kMb / 2);
  EXPECT_EQ(setter->call({"PING"}), "+PONG\r\n");
}

TEST(ClientMemory, UnfinishedRequestsCount) {
  Config config;
  config.maxmemory_clients = 8 * kMb;
  FakeServer server(config);
  auto hoarder = server.connect();
  hoarder->push("*2\r\n$3\r\nGET\r\n$20000000\r\n" + std::string(9 * kMb, 'x'));
  server.run_turns();
  EXPECT_TRUE(hoarder->closed());
}

TEST(ClientMemory, WhoIsNotToBeEvictedIsSpared) {
  Config config;
  config.maxmemory_clients = 8 * kMb;
  FakeServer server(config);
  auto spared = server.connect();
  spared->call({"CLIENT", "NO-EVICT", "on"});
  spared->push("*2\r\n$3\r\nGET\r\n$20000000\r\n" + std::string(9 * kMb, 'x'));
  server.run_turns();
  EXPECT_FALSE(spared->closed());
}

Config with_memory(int64_t bytes) {
  Config config;
  config.maxmemory = bytes;
  return config;
}

TEST(ChangeBound, OneCommandThatPassesHalfOfMaxmemoryIsRefused) {
  FakeServer server(with_memory(32 * kMb));
  auto client = server.connect();
  EXPECT_EQ(client->call({"SET", "k", "old"}), kOk);
  const std::string reply = client->call({"SETRANGE", "k", std::to_string(17 * kMb), "x"});
  EXPECT_TRUE(is_oom(reply)) << reply;
  EXPECT_NE(reply.find("what the command changed is undone"), std::string::npos) << reply;
  EXPECT_EQ(client->call({"GET", "k"}), bulk("old"));
}

TEST(ChangeBound, APipelineWaitsForWriteBackAndLosesNothing) {
  FakeServer server(with_memory(32 * kMb));
  auto client = server.connect();
  auto reader = server.connect();
  std::string pipeline;
  for (int i = 0; i < 20; ++i) {
    pipeline += request({"SETRANGE", "k" + std::to_string(i), std::to_string(4 * kMb), "x"});
  }
  client->push(pipeline);
  size_t replies = 0;
  for (int i = 0; i < 2000 && replies < 20; ++i) {
    server.end_turn();
    EXPECT_LE(server->keys().running().dirty_bytes().bytes(),
              server->keys().running().dirty_bytes().bytes_max());
    EXPECT_EQ(reader->call({"PING"}), "+PONG\r\n");
    const std::string came = client->take();
    for (size_t at = came.find(":4194305\r\n"); at != std::string::npos;
         at = came.find(":4194305\r\n", at + 1)) {
      ++replies;
    }
    EXPECT_EQ(came.find('-'), std::string::npos) << came;
    server.advance(kMs);
  }
  EXPECT_EQ(replies, 20u);
}

// It has made some of its changes when it meets the bound, and runs again later: nobody sees the
// half meanwhile.
TEST(ChangeBound, WhoWaitsForWriteBackInTheMiddleLeavesNothingMeanwhile) {
  FakeServer server(with_memory(16 * kMb));
  auto client = server.connect();
  auto reader = server.connect();
  client->push(request({"SET", "owed", std::string(3 * kMb, 'x')}));
  const std::string value(3 * kMb / 2, 'x');
  reader->push(request({"MSET", "a", value, "b", value, "c", value, "d", value}));
  server.end_turn();
  EXPECT_EQ(client->take(), kOk);
  EXPECT_EQ(reader->take(), "");
  client->push(request({"EXISTS", "a", "b", "c", "d"}) + request({"DBSIZE"}));
  server.end_turn();
  EXPECT_EQ(client->take(), ":0\r\n:1\r\n");
  std::string reply;
  for (int i = 0; i < 2000 && reply.empty(); ++i) {
    server.advance(kMs);
    server.run_turns();
    reply = reader->take();
  }
  EXPECT_EQ(reply, kOk);
  EXPECT_EQ(client->call({"EXISTS", "a", "b", "c", "d"}), ":4\r\n");
}

// What its commands have left beside the keyspace goes with what they have written.
TEST(ChangeBound, ATransactionThatWaitsForWriteBackIsSeenOnce) {
  FakeServer server(with_memory(16 * kMb));
  auto client = server.connect();
  auto writer = server.connect();
  auto listener = server.connect();
  auto monitor = server.connect();
  listener->call({"SUBSCRIBE", "news"});
  client->call({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  client->call({"SET", "there", "1"});
  monitor->call({"MONITOR"});
  listener->take();
  const SlowLog& slow_log = server->report().slow_log;
  const Executor& executor = server->executor();
  const uint64_t slow = slow_log.savepoint();
  const uint64_t hits = server->report().stats.keyspace_hits;
  client->push(request({"SET", "owed", std::string(3 * kMb, 'x')}));
  std::string requests = request({"MULTI"}) + request({"RL.TAKE", "limit", "GCRA", "1/1s"}) +
                         request({"GET", "there"}) + request({"PUBLISH", "news", "x"});
  for (const std::string key : {"a", "b", "c", "d"})
    requests += request({"SETRANGE", key, std::to_string(3 * kMb / 2), "x"});
  writer->push(requests + request({"EXEC"}));
  const auto turn = [&server] {
    for (Session* session : server->sessions().holds().take_runnable()) session->resume(1024);
    server.end_turn();
  };
  for (int i = 0; i < 50 && writer->session().hold() == Hold::kNone; ++i) turn();
  EXPECT_EQ(writer->session().hold(), Hold::kWriteBack);
  EXPECT_EQ(listener->take(), "");
  EXPECT_EQ(server->report().stats.keyspace_hits, hits);
  EXPECT_EQ(executor.metrics(*executor.table().find("rl.take")).calls, 0u);
  EXPECT_EQ(server->limiters().verdicts.of(Outcome::kAllowed), 0u);
  EXPECT_EQ(slow_log.savepoint(), slow + 2);  // SET and MULTI
  for (int i = 0; i < 50 && writer->session().hold() != Hold::kNone; ++i) {
    server.clock.advance(kSecond);
    server->tick();
    turn();
  }
  EXPECT_EQ(executor.metrics(*executor.table().find("rl.take")).calls, 1u);
  EXPECT_EQ(server->limiters().verdicts.of(Outcome::kAllowed), 1u);
  EXPECT_EQ(server->report().stats.keyspace_hits, hits + 1);
  EXPECT_EQ(slow_log.savepoint(), slow + 2 + 7);  // EXEC shows as what it has run
  const std::string heard = listener->take();
  EXPECT_EQ(heard.find("news"), heard.rfind("news"));
  EXPECT_NE(heard.find("news"), std::string::npos);
  const std::string shown = monitor->take();
  EXPECT_EQ(shown.find("PUBLISH"), shown.rfind("PUBLISH"));
  EXPECT_NE(shown.find("PUBLISH"), std::string::npos);
}

TEST(ChangeBound, ATransactionThatPassesItIsTakenBackWhole) {
  FakeServer server(with_memory(32 * kMb));
  auto client = server.connect();
  std::string requests = request({"MULTI"}) + request({"SET", "n", "1"});
  for (int i = 0; i < 8; ++i) {
    requests += request({"SETRANGE", "k" + std::to_string(i), std::to_string(4 * kMb), "x"});
  }
  const std::string replies = client->send(requests + request({"EXEC"}));
  EXPECT_NE(replies.find("-OOM "), std::string::npos) << replies;
  EXPECT_EQ(client->call({"EXISTS", "n", "k0"}), ":0\r\n");
  EXPECT_EQ(client->call({"PING"}), "+PONG\r\n");
}

TEST(ChangeBound, AScriptThatPassesItIsTakenBackWhole) {
  FakeServer server(with_memory(32 * kMb));
  auto client = server.connect();
  const std::string script =
      "for i = 1, 100 do redis.pcall('SETRANGE', 'k' .. i, 4000000, 'x') end return 1";
  EXPECT_TRUE(is_oom(client->call({"EVAL", script, "0"})));
  EXPECT_EQ(client->call({"DBSIZE"}), ":0\r\n");
}

// What is on disk as well may be given up, so it is owed nobody.
TEST(ChangeBound, ACleanKeyspaceLargerThanMaxmemoryTakesWrites) {
  FakeServer server(with_memory(32 * kMb));
  auto client = server.connect();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client->call({"SET", "k" + std::to_string(i), std::string(kMb, 'x')}), kOk) << i;
    server.advance(100 * kMs);
  }
  EXPECT_EQ(client->call({"DBSIZE"}), ":100\r\n");
  EXPECT_EQ(client->call({"STRLEN", "k0"}), ":1048576\r\n");
}

// With the disk gone nothing can be written back: what `memory` owes stays below one log record.
TEST(ChangeBound, WhatMemoryOwesAFailedDiskIsBounded) {
  Config config = with_memory(32 * kMb);
  config.storage_failure_policy = FailurePolicy::kMemory;
  FakeServer server(config);
  auto client = server.connect();
  server.disk().faults.disk_full = true;
  int stored = 0;
  while (stored < 100 &&
         client->call({"SET", "k" + std::to_string(stored), std::string(kMb, 'x')}) == kOk) {
    ++stored;
  }
  EXPECT_GT(stored, 8);
  EXPECT_LT(stored, 17);
  EXPECT_EQ(client->call({"STRLEN", "k0"}), ":1048576\r\n");
}

TEST(InternalError, IsAnErrorReplyAndACount) {
  Config config;
  config.enable_debug_command = DebugAccess::kYes;
  FakeServer server(config);
  auto client = server.connect();
  EXPECT_EQ(server->report().stats.internal_errors, 0u);
  const std::string reply = client->call({"DEBUG", "BROKEN-CHECK"});
  EXPECT_TRUE(reply.starts_with("-ERR internal error: commands/debug.cc:")) << reply;
  EXPECT_EQ(server->report().stats.internal_errors, 1u);
  EXPECT_EQ(client->call({"PING"}), "+PONG\r\n");
}

}  // namespace
}  // namespace weir::server
