// The minutes that the page draws: what is in one, how many there are, and what a reset does.
#include "server/report/minutes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "server/core/run/server.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::ElementsAre;

constexpr int64_t kMinuteNs = Minutes::kEveryNs;

TEST(Minutes, HaveWhatGrewInEach) {
  Minutes minutes;
  MinuteTotals totals{.allowed = 1000, .denied = 7};
  totals.decisions.add(kSecond);
  EXPECT_TRUE(minutes.is_due(5));
  minutes.end_minute(5, 100, totals);
  EXPECT_THAT(minutes.all(), ElementsAre()) << "nothing is known of what was before the first";
  EXPECT_FALSE(minutes.is_due(5 + kMinuteNs - 1));
  EXPECT_TRUE(minutes.is_due(5 + kMinuteNs));
  totals.allowed += 120;
  totals.denied += 30;
  for (int i = 0; i < 98; ++i) totals.decisions.add(2 * kMs);
  for (int i = 0; i < 2; ++i) totals.decisions.add(40 * kMs);
  minutes.end_minute(5 + kMinuteNs, 160, totals);
  ASSERT_EQ(minutes.all().size(), 1u);
  const Minute& minute = minutes.all().front();
  EXPECT_EQ(minute.end_s, 160);
  EXPECT_FLOAT_EQ(minute.values[0], 2);
  EXPECT_FLOAT_EQ(minute.values[1], 0.5);
  EXPECT_NEAR(minute.values[4], 0.002, 0.0001) << "the second before the minute is not in it";
  EXPECT_NEAR(minute.values[5], 0.040, 0.002);
  EXPECT_TRUE(std::isnan(minute.values[6])) << "there was no turn";
}

TEST(Minutes, CountAMinuteThatWasLongAsLong) {
  Minutes minutes;
  minutes.end_minute(0, 100, {});
  minutes.end_minute(2 * kMinuteNs, 220, {.allowed = 240});
  EXPECT_FLOAT_EQ(minutes.all().front().values[0], 2) << "the machine slept meanwhile";
}

TEST(Minutes, BeginAnewWhenStatisticsAreReset) {
  Minutes minutes;
  MinuteTotals many{.allowed = 6000};
  for (int i = 0; i < 10; ++i) many.turns.add(kMs);
  minutes.end_minute(0, 100, many);
  MinuteTotals few{.allowed = 60};
  few.turns.add(5 * kMs);
  minutes.end_minute(kMinuteNs, 160, few);
  EXPECT_FLOAT_EQ(minutes.all().front().values[0], 1);
  EXPECT_NEAR(minutes.all().front().values[6], 0.005, 0.0002);
}

TEST(Minutes, AreThoseOfADayAlone) {
  Minutes minutes;
  for (int64_t i = 0; i <= 1500; ++i) minutes.end_minute(i * kMinuteNs, i * 60, {});
  EXPECT_EQ(minutes.all().size(), Minutes::kMinutesMax);
  EXPECT_EQ(minutes.all().front().end_s, (1500 - 1439) * 60);
  EXPECT_EQ(minutes.all().back().end_s, 1500 * 60);
  EXPECT_LE(Minutes::kMinutesMax * sizeof(Minute), 58'000u) << "as the header says";
}

TEST(Minutes, AreTakenByTheServer) {
  FakeServer server;
  server->tick();
  const auto client = server.connect();
  for (int i = 0; i < 4; ++i) client->call({"RL.TAKE", "k", "FIXED", "1/1h"});
  client->call({"NO.SUCH.COMMAND"});
  server.clock.advance(59 * kSecond);
  server->tick();
  EXPECT_EQ(server->report().minutes.all().size(), 0u);
  server.clock.advance(kSecond);
  server->tick();
  ASSERT_EQ(server->report().minutes.all().size(), 1u);
  const Minute& minute = server->report().minutes.all().front();
  EXPECT_EQ(minute.end_s, server.clock.wall_ns() / kSecond);
  EXPECT_FLOAT_EQ(minute.values[0] * 60, 1);
  EXPECT_FLOAT_EQ(minute.values[1] * 60, 3);
  EXPECT_FLOAT_EQ(minute.values[3] * 60, 1);
}

}  // namespace
}  // namespace weir::server
