// The end of a turn: what leaves when, and what happens when the disk fails or is slow.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

bool is_misconf(const std::string& reply) {
  return reply.starts_with("-MISCONF ") && reply.find("\r\n") == reply.size() - 2;
}

Config with(DurabilityLevel durability, FailurePolicy policy = FailurePolicy::kDeny) {
  Config config;
  config.durability = durability;
  config.storage_failure_policy = policy;
  return config;
}

// What a server finds that is started on the disk as it is now.
std::string get_after_kill(FakeServer& server, std::string_view key) {
  FakeServer restarted({}, server.disk().after_kill());
  return restarted.connect()->call({"GET", key});
}

TEST(Turn, IsInTheLogBeforeItIsAnswered) {
  FakeServer server;
  auto client = server.connect();
  client->push(request({"SET", "a", "1"}));
  EXPECT_EQ(get_after_kill(server, "a"), "$-1\r\n");
  server.end_turn();
  EXPECT_EQ(client->take(), kOk);
  EXPECT_EQ(get_after_kill(server, "a"), bulk("1"));
}

// The loop closes what it finds dead there, so a second mention would be of a session that is gone.
// So ends who is owed a reply and waits for another one when its server is demoted.
TEST(Turn, ListsASessionOnceThatIsKilledAndThenAnswered) {
  FakeServer server;
  auto client = server.connect();
  client->call({"BLPOP", "list", "0"});
  server->sessions().kill(&client->session());
  client->session().join_turn();
  server->end_turn();
  EXPECT_EQ(server->turn().touched(), std::vector{&client->session()});
  server.end_turn();
}

// The promotion may come at such an instant, and then the server commits what it wrote down itself.
TEST(Turn, IsAnsweredThoughSomethingIsCommittedBeforeItsRepliesLeave) {
  FakeServer server;
  auto client = server.connect();
  client->push(request({"PING"}));
  server->end_turn();
  server->turn().commit_early();
  EXPECT_EQ(server->turn().touched().size(), 1u);
}

TEST(Turn, ThatChangesNothingWritesNothing) {
  FakeServer server;
  auto client = server.connect();
  client->call({"SET", "a", "1"});
  const uint64_t turn = server->keys().turn();
  client->send(request({"GET", "a"}) + request({"DEL", "nosuch"}) + request({"PING"}));
  EXPECT_EQ(server->keys().turn(), turn);
}

TEST(FailedTurn, TakesBackWhatItWroteAndWhoSawIt) {
  FakeServer server;
  auto writer = server.connect();
  auto reader = server.connect();
  auto bystander = server.connect();
  EXPECT_EQ(writer->call({"SET", "a", "old"}), kOk);
  server.disk().faults.append_lost = 1;
  writer->push(request({"PING"}) + request({"SET", "a", "new"}) + request({"PING"}));
  reader->push(request({"GET", "a"}));
  bystander->push(request({"ECHO", "x"}) + request({"NOSUCH"}));
  server.end_turn();
  const std::string written = writer->take();
  EXPECT_TRUE(written.starts_with("+PONG\r\n-MISCONF ")) << written;
  EXPECT_TRUE(written.ends_with("see storage-failure-policy\r\n+PONG\r\n")) << written;
  EXPECT_TRUE(is_misconf(reader->take()));
  EXPECT_EQ(bystander->take(),
            bulk("x") + "-ERR unknown command 'NOSUCH', with args beginning with: \r\n");
  EXPECT_EQ(reader->call({"GET", "a"}), bulk("old"));
  EXPECT_EQ(get_after_kill(server, "a"), bulk("old"));
}

TEST(FailedTurn, RepliesOfEarlierTurnsStand) {
  FakeServer server;
  auto client = server.connect();
  client->reads = false;
  client->call({"SET", "a", "1"});
  server.disk().faults.append_lost = 1;
  client->call({"SET", "a", "2"});
  client->reads = true;
  const std::string replies = client->send("");
  EXPECT_TRUE(replies.starts_with("+OK\r\n-MISCONF ")) << replies;
}

TEST(FailedTurn, WritesAreDeniedUntilTheDiskIsBack) {
  FakeServer server;
  auto client = server.connect();
  client->call({"SET", "a", "1"});
  server.disk().faults.disk_full = true;
  EXPECT_TRUE(is_misconf(client->call({"SET", "a", "2"})));
  EXPECT_TRUE(is_misconf(client->call({"CL.THROTTLE", "k", "1", "1", "1"})));
  EXPECT_TRUE(is_misconf(client->call({"DEL", "a"})));
  EXPECT_TRUE(is_misconf(client->call({"PING"})));  // as Redis says it
  EXPECT_EQ(client->call({"GET", "a"}), bulk("1"));
  server.advance(kSecond + kMs);
  server.disk().faults.disk_full = false;
  server.advance(kSecond + kMs);
  EXPECT_EQ(client->call({"SET", "a", "2"}), kOk);
  EXPECT_EQ(get_after_kill(server, "a"), bulk("2"));
}

// The call failed, but the record is in the log: reading it again decides.
TEST(FailedTurn, WhatTheLogKeptHappened) {
  FakeServer server;
  auto client = server.connect();
  client->call({"SET", "a", "1"});
  server.disk().faults.append_kept = 1;
  EXPECT_TRUE(is_misconf(client->call({"SET", "a", "2"})));
  EXPECT_EQ(client->call({"GET", "a"}), bulk("1"));
  server.advance(kSecond + kMs);
  EXPECT_EQ(client->call({"GET", "a"}), bulk("2"));
  EXPECT_EQ(client->call({"SET", "a", "3"}), kOk);
  EXPECT_EQ(get_after_kill(server, "a"), bulk("3"));
}

TEST(FailedTurn, ClosingClientsInItHarmsNobody) {
  Config config;
  config.timeout = 1;
  FakeServer server(config);
  auto idle = server.connect();
  idle->call({"PING"});
  idle->call({"PING"});
  auto writer = server.connect();
  server.clock.advance(2 * kSecond);
  writer->session().activity().note_interaction(server.clock.steady_ns());
  server->tick();  // the idle one is told off...
  server.disk().faults.append_lost = 1;
  EXPECT_TRUE(is_misconf(writer->call({"SET", "a", "1"})));  // ... and goes with a turn that fails
  EXPECT_TRUE(idle->closed());
}

TEST(PolicyMemory, GoesOnAndPaysTheDiskBack) {
  FakeServer server(with(DurabilityLevel::kEverysec, FailurePolicy::kMemory));
  auto client = server.connect();
  client->call({"SET", "a", "1"});
  server.disk().faults.disk_full = true;
  EXPECT_EQ(client->call({"SET", "a", "2"}), kOk);
  EXPECT_EQ(client->call({"SET", "b", "1"}), kOk);
  EXPECT_EQ(client->call({"CL.THROTTLE", "k", "0", "1", "60"}),
            "*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:60\r\n");
  EXPECT_EQ(client->call({"GET", "a"}), bulk("2"));
  EXPECT_EQ(get_after_kill(server, "a"), bulk("1"));
  server.disk().faults.disk_full = false;
  server.advance(kSecond + kMs);
  EXPECT_EQ(client->call({"SET", "c", "1"}), kOk);
  FakeServer restarted({}, server.disk().after_kill());
  auto after = restarted.connect();
  EXPECT_EQ(after->call({"MGET", "a", "b", "c"}), "*3\r\n" + bulk("2") + bulk("1") + bulk("1"));
  EXPECT_TRUE(after->call({"CL.THROTTLE", "k", "0", "1", "60"}).starts_with("*5\r\n:1\r\n"));
}

class Always : public testing::Test {
 protected:
  Always() { server_.disk().deferred = true; }

  FakeServer server_{with(DurabilityLevel::kAlways)};
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(Always, AReplyWaitsForTheSync) {
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  EXPECT_EQ(client_->call({"PING"}), "");
  EXPECT_TRUE(server_.step_disk());
  EXPECT_EQ(client_->take(), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(client_->call({"GET", "a"}), bulk("1"));
}

TEST_F(Always, NobodySeesWhatMayStillBeLost) {
  auto other = server_.connect();
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  EXPECT_EQ(other->call({"GET", "a"}), "");
  server_.step_disk();
  EXPECT_EQ(client_->take(), kOk);
  EXPECT_EQ(other->take(), bulk("1"));
}

TEST_F(Always, AllWhoWaitShareTheNextSync) {
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  std::vector<std::unique_ptr<FakeClient>> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(server_.connect());
    EXPECT_EQ(others.back()->call({"SET", "b", std::to_string(i)}), "");
  }
  server_.step_disk();  // the sync that covers the first turn alone
  EXPECT_EQ(client_->take(), kOk);
  EXPECT_EQ(others.front()->take(), "");
  server_.step_disk();
  for (const auto& other : others) EXPECT_EQ(other->take(), kOk);
}

TEST_F(Always, QuitWaitsAsWell) {
  EXPECT_EQ(client_->send(request({"SET", "a", "1"}) + request({"QUIT"})), "");
  EXPECT_FALSE(client_->closed());
  server_.step_disk();
  EXPECT_EQ(client_->take(), "+OK\r\n+OK\r\n");
  EXPECT_TRUE(client_->closed());
}

TEST_F(Always, AFailedSyncEndsThoseWhoWaited) {
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  auto other = server_.connect();
  server_.disk().faults.sync = 1;
  server_.step_disk();
  server_.end_turn();
  EXPECT_EQ(client_->take(), "");
  EXPECT_TRUE(client_->closed());
  EXPECT_TRUE(is_misconf(other->call({"SET", "a", "2"})));
  server_.disk().deferred = false;
  server_.advance(kSecond + kMs);
  EXPECT_EQ(other->call({"SET", "a", "2"}), kOk);
}

// Both were in the log when the failure of the sync was noticed.
TEST_F(Always, AFailedSyncEndsThoseOfTheSameTurn) {
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  auto writer = server_.connect();
  auto reader = server_.connect();
  auto bystander = server_.connect();
  server_.disk().faults.sync = 1;
  writer->push(request({"SET", "a", "2"}));
  reader->push(request({"GET", "a"}));
  bystander->push(request({"PING"}));
  server_.step_disk();
  server_.end_turn();
  EXPECT_EQ(writer->take() + reader->take(), "");
  EXPECT_TRUE(client_->closed() && writer->closed() && reader->closed());
  EXPECT_EQ(bystander->take(), "+PONG\r\n");
}

// A failed turn must not let out what waits for the sync of an earlier one.
TEST_F(Always, AFailedTurnLetsNothingUnsyncedOut) {
  auto other = server_.connect();
  EXPECT_EQ(client_->call({"SET", "a", "1"}), "");
  server_.disk().faults.append_lost = 1;
  EXPECT_TRUE(is_misconf(other->call({"SET", "b", "1"})));
  server_.end_turn();
  EXPECT_EQ(client_->take(), "");
  EXPECT_TRUE(client_->closed());
  EXPECT_EQ(other->call({"GET", "b"}), "$-1\r\n");
}

TEST(Everysec, RepliesDoNotWaitForTheSync) {
  FakeServer server(with(DurabilityLevel::kEverysec));
  server.disk().deferred = true;
  auto client = server.connect();
  EXPECT_EQ(client->call({"SET", "a", "1"}), kOk);
}

TEST(Everysec, WritesWaitWhenTheDiskIsTwoSecondsBehind) {
  FakeServer server(with(DurabilityLevel::kEverysec));
  auto client = server.connect();
  server.advance(kSecond);
  while (server.step_disk()) continue;
  server.disk().deferred = true;
  EXPECT_EQ(client->call({"SET", "a", "1"}), kOk);
  server.advance(kSecond);
  EXPECT_EQ(client->call({"SET", "a", "2"}), kOk);
  server.advance(1500 * kMs);
  EXPECT_EQ(client->call({"SET", "a", "3"}), "");
  EXPECT_GT(server->persistence().durability->unsynced_ns(server->clock().steady_ns()),
            2 * kSecond);
  server.step_disk();
  EXPECT_EQ(client->take(), kOk);
}

TEST(Everysec, ASyncBeginsEverySecondWhileThereAreChanges) {
  FakeServer server(with(DurabilityLevel::kEverysec));
  auto client = server.connect();
  const auto syncs = [&] { return server->keys().store_in_use()->metrics().syncs; };
  server.advance(kSecond);
  const uint64_t before = syncs();
  for (int i = 0; i < 30; ++i) {
    client->call({"SET", "a", std::to_string(i)});
    server.advance(100 * kMs);
  }
  EXPECT_GE(syncs() - before, 3u);
  EXPECT_LE(syncs() - before, 5u);  // a write-back syncs too
  EXPECT_EQ(server.disk().synced_turn, server->keys().turn());
}

TEST(No, NothingIsSyncedButWhatWriteBackNeeds) {
  FakeServer server(with(DurabilityLevel::kNo));
  server.disk().deferred = true;
  auto client = server.connect();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(client->call({"SET", "a", "1"}), kOk);
    server.advance(kSecond);
  }
  EXPECT_EQ(server->keys().store_in_use()->metrics().syncs, 0u);
}

TEST(Close, CommitsAndSyncsEverything) {
  FakeServer server(with(DurabilityLevel::kNo));
  auto client = server.connect();
  client->push(request({"SET", "a", "1"}));
  EXPECT_TRUE(server->close().ok());
  auto left = server.disk().after_power_cut({});
  FakeServer restarted({}, left);
  EXPECT_EQ(restarted.connect()->call({"GET", "a"}), bulk("1"));
}

TEST(Close, SaysWhenTheLastChangesMayBeLost) {
  Config config;
  config.write_back_interval_ms = 3'600'000;
  FakeServer server(config);
  for (int i = 0; i < 10; ++i) server.advance(kSecond);  // past the write-back at the start
  server.connect()->call({"SET", "a", "1"});
  server.disk().faults.sync = 1;
  EXPECT_FALSE(server->close().ok());
}

TEST(TurnMetrics, CountTurnsAndTheirLength) {
  FakeServer server;
  auto client = server.connect();
  client->send(request({"SET", "a", "1"}) + request({"SET", "b", "1"}));
  client->call({"GET", "a"});
  EXPECT_EQ(server->report().stats.turns_run, 2u);
  EXPECT_EQ(server->report().stats.turns, 1u);
  server->config().enable_debug_command = DebugAccess::kYes;
  client->call({"DEBUG", "SLEEP", "0.25"});
  EXPECT_EQ(server->report().stats.turn_ns_max, 250 * kMs);
}

}  // namespace
}  // namespace weir::server
