// Client-side caching as far as it cannot be compared with Redis: bounds, and receivers that go.
// What each mode tells is in tests/differential/tracking.txt.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

std::string invalidation(std::string_view key) {
  return ">2\r\n" + bulk("invalidate") + "*1\r\n" + bulk(key);
}

std::unique_ptr<FakeClient> tracker_of(FakeServer& server, std::string_view mode = "NOLOOP") {
  auto client = server.connect();
  client->call({"HELLO", "3"});
  EXPECT_EQ(client->call({"CLIENT", "TRACKING", "ON", mode}), "+OK\r\n");
  return client;
}

TEST(TrackingTest, TellsOnceAndAfterAnotherReadAgain) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto writer = server.connect();
  tracker->call({"GET", "k"});
  writer->call({"SET", "k", "1"});
  EXPECT_EQ(tracker->take(), invalidation("k"));
  writer->call({"SET", "k", "2"});
  EXPECT_EQ(tracker->take(), "");
  tracker->call({"GET", "k"});
  writer->call({"DEL", "k"});
  EXPECT_EQ(tracker->take(), invalidation("k"));
}

TEST(TrackingTest, AScriptThatWritesReadsAndWritesAgainIsToldOfTheSecond) {
  FakeServer server;
  auto tracker = tracker_of(server, "OPTOUT");
  const std::string heard =
      tracker->call({"EVAL",
                     "redis.call('set', KEYS[1], '1') redis.call('get', KEYS[1]) "
                     "redis.call('set', KEYS[1], '2')",
                     "1", "k"});
  EXPECT_NE((heard + tracker->take()).find(invalidation("k")), std::string::npos);
}

TEST(TrackingTest, LimitersAreKeysLikeOthers) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto broadcast = tracker_of(server, "BCAST");
  auto writer = server.connect();
  tracker->call({"RL.PEEK", "l", "gcra", "10", "60"});
  tracker->call({"TTL", "l"});
  writer->call({"CL.THROTTLE", "l", "9", "10", "60"});
  EXPECT_EQ(tracker->take(), invalidation("l"));
  EXPECT_EQ(broadcast->take(), invalidation("l"));
}

TEST(TrackingTest, TimeEndsKeys) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto writer = server.connect();
  writer->call({"SET", "k", "1", "PX", "100"});
  tracker->call({"GET", "k"});
  server.clock.advance(kSecond);
  EXPECT_EQ(writer->call({"GET", "k"}), "$-1\r\n");
  server.end_turn();
  EXPECT_EQ(tracker->take(), invalidation("k"));
}

TEST(TrackingTest, KeysForgottenBecauseTheBoundWasLoweredAreToldOfAtOnce) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto admin = server.connect();
  tracker->call({"GET", "a"});
  tracker->call({"GET", "b"});
  EXPECT_EQ(admin->call({"CONFIG", "SET", "tracking-table-max-keys", "1"}), "+OK\r\n");
  server.end_turn();
  const std::string told = tracker->take();
  EXPECT_TRUE(told == invalidation("a") || told == invalidation("b")) << told;
}

TEST(TrackingTest, ForgottenKeysAreToldOf) {
  Config config;
  config.tracking_table_max_keys = 3;
  FakeServer server(config);
  auto tracker = tracker_of(server);
  std::string told;
  for (const std::string_view key : {"a", "b", "c"}) told += tracker->call({"TTL", key});
  EXPECT_EQ(told, ":-2\r\n:-2\r\n:-2\r\n");
  told = tracker->call({"TTL", "d"}) + tracker->call({"TTL", "e"});
  EXPECT_EQ(server->messages().tracking().keys(), 3u);
  size_t forgotten = 0;
  for (size_t at = 0; (at = told.find("invalidate", at)) != std::string::npos; ++at) ++forgotten;
  EXPECT_EQ(forgotten, 2u) << told;
}

TEST(TrackingTest, ForgottenKeysAreNoBroadcast) {
  Config config;
  config.tracking_table_max_keys = 1;
  FakeServer server(config);
  auto broadcast = tracker_of(server, "BCAST");
  auto tracker = tracker_of(server);
  tracker->call({"MGET", "a", "b", "c"});
  EXPECT_EQ(broadcast->call({"PING"}), "+PONG\r\n");
}

TEST(TrackingTest, ReadersThatWentDoNotPileUp) {
  FakeServer server;
  auto stays = tracker_of(server);
  for (int i = 0; i < 1000; ++i) {
    auto passes = tracker_of(server);
    passes->call({"GET", "k"});
    passes->leave();
  }
  EXPECT_EQ(server->messages().tracking().sessions(), 1u);
  EXPECT_LE(server->messages().tracking().items(), 16u);
}

TEST(TrackingTest, NothingIsRememberedForNobody) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto broadcast = tracker_of(server, "BCAST");
  tracker->call({"GET", "k"});
  EXPECT_EQ(server->messages().tracking().keys(), 1u);
  EXPECT_EQ(server->messages().tracking().prefixes(), 1u);
  tracker->leave();
  broadcast->leave();
  EXPECT_FALSE(server->messages().tracking().any());
  EXPECT_EQ(server->messages().tracking().keys(), 0u);
  EXPECT_EQ(server->messages().tracking().items(), 0u);
  EXPECT_EQ(server->messages().tracking().prefixes(), 0u);
}

TEST(TrackingTest, ARedirectionToNobodyIsSaid) {
  FakeServer server;
  auto receiver = server.connect();
  const std::string id = std::to_string(receiver->session().id);
  auto tracker = server.connect();
  tracker->call({"HELLO", "3"});
  EXPECT_EQ(tracker->call({"CLIENT", "TRACKING", "ON", "REDIRECT", id}), "+OK\r\n");
  EXPECT_EQ(tracker->call({"CLIENT", "GETREDIR"}), ":" + id + "\r\n");
  tracker->call({"GET", "k"});
  receiver->leave();
  server.connect()->call({"SET", "k", "1"});
  EXPECT_EQ(tracker->take(), ">2\r\n" + bulk("tracking-redir-broken") + ":" + id + "\r\n");
  EXPECT_NE(tracker->call({"CLIENT", "TRACKINGINFO"}).find("broken_redirect"), std::string::npos);
}

TEST(TrackingTest, WhatIsTakenBackIsToldOfRatherThanMissed) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto writer = server.connect();
  writer->call({"SET", "k", "text"});
  tracker->call({"GET", "k"});
  EXPECT_EQ(
      writer
          ->call({"EVAL", "redis.call('set', KEYS[1], 'x') return redis.call('nosuch')", "1", "k"})
          .front(),
      '-');
  EXPECT_EQ(tracker->take(), invalidation("k"));
}

TEST(TrackingTest, AStoreThatWasReopenedIsAnotherOne) {
  FakeServer server;
  auto tracker = tracker_of(server);
  auto writer = server.connect();
  tracker->call({"GET", "k"});
  server.disk().faults.disk_full = true;
  EXPECT_EQ(writer->call({"SET", "k", "1"}).substr(0, 9), "-MISCONF ");
  tracker->take();
  server.disk().faults.disk_full = false;
  server.advance(10 * kSecond);
  EXPECT_EQ(tracker->call({"GET", "k"}), ">2\r\n" + bulk("invalidate") + "_\r\n_\r\n");
}

}  // namespace
}  // namespace weir::server
