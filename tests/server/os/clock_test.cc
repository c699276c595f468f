// Timeline over a bad clock: it never runs back, and the steady clock decides how fast it goes.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class TimelineTest : public testing::Test {
 protected:
  // Time passes as in a server that ends a turn every 10 ms.
  void pass(int64_t ns) {
    for (; ns > 0; ns -= 10 * kMs) {
      clock_.advance(std::min(ns, 10 * kMs));
      timeline_.synchronise();
    }
  }

  FakeClock clock_;
  Timeline timeline_{&clock_};
};

TEST_F(TimelineTest, IsTheWallClockWhileNothingIsWrong) {
  pass(3 * kSecond);
  EXPECT_EQ(timeline_.now_ns(), clock_.wall_ns());
  EXPECT_EQ(timeline_.lead_ns(), 0);
}

TEST_F(TimelineTest, GoesOnBetweenSynchronisations) {
  const int64_t before_ns = timeline_.now_ns();
  clock_.advance(7 * kMs);
  EXPECT_EQ(timeline_.now_ns(), before_ns + 7 * kMs);
}

TEST_F(TimelineTest, AStepBackAddsToTheLead) {
  const int64_t before_ns = timeline_.now_ns();
  clock_.step_wall(-3600 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.now_ns(), before_ns);
  EXPECT_EQ(timeline_.lead_ns(), 3600 * kSecond);
  pass(2 * kSecond);
  EXPECT_EQ(timeline_.now_ns(), before_ns + 2 * kSecond);
}

TEST_F(TimelineTest, AStepForwardUsesTheLeadUpFirst) {
  const int64_t before_ns = timeline_.now_ns();
  clock_.step_wall(-10 * kSecond);
  timeline_.synchronise();
  clock_.step_wall(4 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.lead_ns(), 6 * kSecond);
  EXPECT_EQ(timeline_.now_ns(), before_ns);
  clock_.step_wall(7 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.lead_ns(), 0);
  EXPECT_EQ(timeline_.now_ns(), before_ns + kSecond);
}

TEST_F(TimelineTest, AStepForwardIsFollowed) {
  const int64_t before_ns = timeline_.now_ns();
  clock_.step_wall(60 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.now_ns(), before_ns + 60 * kSecond);
}

TEST_F(TimelineTest, AStepIsNotSeenBeforeTheTurnEnds) {
  const int64_t before_ns = timeline_.now_ns();
  clock_.step_wall(60 * kSecond);
  EXPECT_EQ(timeline_.now_ns(), before_ns);
}

TEST_F(TimelineTest, NeverRunsBackWhateverTheClockDoes) {
  int64_t newest_ns = 0;
  uint64_t seed = 1;
  for (int i = 0; i < 10'000; ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const int64_t step_ns = static_cast<int64_t>(seed >> 33) % (20 * kSecond) - 10 * kSecond;
    if (seed % 3 == 0) clock_.step_wall(step_ns);
    if (seed % 5 != 0) clock_.advance(static_cast<int64_t>(seed >> 40));
    if (seed % 7 != 0) timeline_.synchronise();
    const int64_t now_ns = timeline_.now_ns();
    ASSERT_GE(now_ns, newest_ns) << "at step " << i;
    newest_ns = now_ns;
  }
}

TEST_F(TimelineTest, SlowDriftIsFollowed) {
  const int64_t before_ns = timeline_.now_ns();
  for (int i = 0; i < 1000; ++i) {
    clock_.advance(10 * kMs);
    clock_.step_wall(1'000);  // one in ten thousand too fast
    timeline_.synchronise();
  }
  EXPECT_GE(timeline_.now_ns(), before_ns + 10 * kSecond);
  EXPECT_NEAR(static_cast<double>(timeline_.now_ns()), static_cast<double>(clock_.wall_ns()), 2e5);
}

TEST_F(TimelineTest, ResumesAfterAnEarlierRun) {
  const int64_t newest_ns = clock_.wall_ns() + 30 * kSecond;
  timeline_.resume(newest_ns, {});
  EXPECT_EQ(timeline_.now_ns(), newest_ns);
  EXPECT_EQ(timeline_.lead_ns(), 30 * kSecond);
  pass(kSecond);
  EXPECT_EQ(timeline_.now_ns(), newest_ns + kSecond);
}

TEST_F(TimelineTest, ResumesWithTheLeadOfAnEarlierRun) {
  timeline_.resume(clock_.wall_ns() - 100 * kSecond, {.lead_ns = 5 * kSecond});
  EXPECT_EQ(timeline_.now_ns(), clock_.wall_ns() + 5 * kSecond);
}

TEST_F(TimelineTest, AnAcceptedLeadStaysAndIsNotUsedUp) {
  clock_.step_wall(-3600 * kSecond);
  timeline_.synchronise();
  const int64_t before_ns = timeline_.now_ns();
  timeline_.accept();
  EXPECT_EQ(timeline_.now_ns(), before_ns);
  EXPECT_EQ(timeline_.lead_ns(), 0);
  EXPECT_EQ(timeline_.wall().at(before_ns), clock_.wall_ns());
  clock_.step_wall(60 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.now_ns(), before_ns + 60 * kSecond) << "as without a lead";
  clock_.step_wall(-10 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.lead_ns(), 10 * kSecond);
  clock_.step_wall(30 * kSecond);
  timeline_.synchronise();
  EXPECT_EQ(timeline_.lead_ns(), 0);
  EXPECT_EQ(timeline_.now_ns(), before_ns + 80 * kSecond);
}

TEST_F(TimelineTest, ResumesWithWhatWasAccepted) {
  clock_.step_wall(-3600 * kSecond);
  timeline_.synchronise();
  timeline_.accept();
  clock_.step_wall(-kSecond);
  timeline_.synchronise();
  Timeline next(&clock_);
  next.resume(timeline_.now_ns(), timeline_.to_store());
  EXPECT_EQ(next.now_ns(), timeline_.now_ns());
  EXPECT_EQ(next.lead_ns(), kSecond);
  EXPECT_EQ(next.to_store(), timeline_.to_store());
}

// What a limiter sees of all this.
TEST(ServerClock, AStepBackGrantsNothingTwiceAndCostsNothing) {
  FakeServer server;
  auto client = server.connect();
  const auto throttle = [&] { return client->call({"CL.THROTTLE", "k", "1", "1", "10"}); };
  EXPECT_EQ(throttle(), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:10\r\n");
  EXPECT_EQ(throttle(), "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:20\r\n");
  server.clock.step_wall(-3600 * kSecond);
  server.advance(10 * kMs);
  EXPECT_EQ(throttle(), "*5\r\n:1\r\n:2\r\n:0\r\n:10\r\n:20\r\n");
  server.advance(10 * kSecond);
  EXPECT_EQ(throttle(), "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:20\r\n");
}

TEST(ServerClock, TheLeadSurvivesARestart) {
  FakeServer first;
  auto client = first.connect();
  first.clock.step_wall(-100 * kSecond);
  first.advance(10 * kMs);
  client->call({"SET", "k", "v"});
  EXPECT_EQ(first->timeline().now_ns(), 1'700'000'000 * kSecond + 10 * kMs);
  FakeServer second({}, first.disk().after_kill(), -99 * kSecond);
  EXPECT_EQ(second->timeline().now_ns(), 1'700'000'001 * kSecond);
}

}  // namespace
}  // namespace weir::server
