// The keyspace's work gets a slice of each turn, and what holds the loop is told of by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/report/loop_watch.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string setting(int keys) {
  return request(
      {"EVAL", "for i = 1, " + std::to_string(keys) + " do redis.call('SET', i, 'v') end", "0"});
}

TEST(WorkSlice, EndsAfterAMillisecondAndGoesOnInTheNextTurn) {
  FakeServer server;
  auto client = server.connect();
  client->push(setting(20'000));
  server.clock.tick_per_look_ns = kMs / 10;
  int turns = 0;
  do {
    const int64_t before_ns = server.clock.steady_ns();
    server.end_turn();
    // The slice, the piece that write-backs it, and what else a turn asks the clock.
    ASSERT_LE(server.clock.steady_ns() - before_ns, 2 * kMs);
    ++turns;
  } while (server->keys().work().wanted());
  EXPECT_GE(turns, 4);
  EXPECT_EQ(server->keys().metrics().unwritten, 0u);
}

TEST(WorkSlice, LateWriteBackHoldsUpThoseWhoWriteAndNobodyElse) {
  Config config;
  config.write_back_entries_max = 1000;
  FakeServer server(config);
  server.disk().deferred = true;
  auto writer = server.connect();
  auto bystander = server.connect();
  writer->call({"SET", "first", "v"});  // its write-back is the disk's from here on
  ASSERT_TRUE(server->keys().work().writing_back());
  writer->send(setting(5'000));
  ASSERT_TRUE(server->keys().work().overloaded());
  EXPECT_EQ(writer->call({"SET", "k", "v"}), "");
  EXPECT_EQ(bystander->call({"PING"}), "+PONG\r\n");
  EXPECT_EQ(bystander->call({"GET", "4999"}), bulk("v"));
  EXPECT_EQ(bystander->call({"GET", "k"}), "$-1\r\n");
  for (int i = 0; i < 100 && server->keys().work().overloaded(); ++i) server.step_disk();
  server.run_turns();
  EXPECT_EQ(writer->take(), "+OK\r\n");
}

TEST(WorkSlice, ACommandThatHoldsTheLoopIsNamed) {
  Config config;
  config.enable_debug_command = DebugAccess::kYes;
  FakeServer server(config);
  auto client = server.connect();
  client->call({"PING"});
  EXPECT_EQ(server->report().loop.long_phases(), 0u);
  client->call({"DEBUG", "SLEEP", "0.05"});
  const LoopWatch& loop = server->report().loop;
  EXPECT_EQ(loop.long_phases(), 1u);  // it is not counted again as a part of the requests
  EXPECT_EQ(loop.longest().phase, "command debug");
  EXPECT_EQ(loop.longest().duration_ns, 50 * kMs);
  const std::string info = client->call({"INFO", "weir"});
  EXPECT_THAT(info, HasSubstr("loop_held:1\r\n"));
  EXPECT_THAT(info, HasSubstr("loop_held_longest:command debug\r\n"));
  EXPECT_THAT(info, HasSubstr("loop_held_longest_ms:50\r\n"));
  client->call({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(loop.long_phases(), 0u);
}

TEST(WorkSlice, PhasesThatTakeLongAreEventsOfLatency) {
  FakeServer server;
  auto client = server.connect();
  client->call({"CONFIG", "SET", "latency-monitor-threshold", "10"});
  server.clock.tick_per_look_ns = 11 * kMs;
  client->call({"SET", "k", "v"});
  server.clock.tick_per_look_ns = 0;
  for (const std::string_view phase : {"commit", "release"})
    EXPECT_NE(server->report().latency.find(phase), nullptr) << phase;
  EXPECT_GE(server->report().loop.long_phases(), 2u);
}

TEST(LoopWatch, TellsWhatTookLongAndNotWhatHadItsOwnName) {
  LoopWatch watch;
  watch.begin(5 * kMs);
  EXPECT_EQ(watch.end(15 * kMs), 0);
  EXPECT_EQ(watch.end(26 * kMs), 11 * kMs);
  watch.name_part(30 * kMs);
  EXPECT_EQ(watch.end(60 * kMs), 0);
  watch.name_part(30 * kMs);
  watch.begin(100 * kMs);
  EXPECT_EQ(watch.end(111 * kMs), 11 * kMs);
}

TEST(LoopWatch, SaysALineASecond) {
  LoopWatch watch;
  EXPECT_EQ(watch.note("eviction", 12 * kMs, kSecond), "the loop was held for 12 ms: eviction");
  EXPECT_THAT(watch.note("commit", 40 * kMs, kSecond + 1), IsEmpty());
  EXPECT_THAT(watch.note("free", 11 * kMs, 2 * kSecond - 1), IsEmpty());
  EXPECT_EQ(watch.note("send", 13 * kMs, 2 * kSecond),
            "the loop was held for 13 ms: send (and 2 times since the last such line)");
  EXPECT_EQ(watch.long_phases(), 4u);
  EXPECT_EQ(watch.held_ns(), 76 * kMs);
  EXPECT_EQ(watch.last().phase, "send");
  EXPECT_EQ(watch.longest().phase, "commit");
}

}  // namespace
}  // namespace weir::server
