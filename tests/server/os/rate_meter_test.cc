#include "server/os/rate_meter.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

constexpr int64_t kTick = 100'000'000;

TEST(RateMeter, KnowsNothingAtFirst) {
  RateMeter meter;
  EXPECT_EQ(meter.per_second(), 0);
  meter.sample(kTick, 1000);
  EXPECT_EQ(meter.per_second(), 0);
}

TEST(RateMeter, IsTheMeanOfTheLastSixteenSamples) {
  RateMeter meter;
  for (int64_t i = 0; i < 40; ++i) meter.sample(i * kTick, static_cast<uint64_t>(i * i));
  EXPECT_DOUBLE_EQ(meter.per_second(), (39 * 39 - 24 * 24) / 1.5);
}

TEST(RateMeter, IgnoresSamplesThatComeTooOften) {
  RateMeter meter;
  for (int64_t i = 0; i <= 400; ++i) meter.sample(i * kTick / 10, static_cast<uint64_t>(i));
  EXPECT_DOUBLE_EQ(meter.per_second(), 100);
}

TEST(RateMeter, StartsOverWhenTheTotalFalls) {
  RateMeter meter;
  for (int64_t i = 0; i < 10; ++i) meter.sample(i * kTick, 1000);
  meter.sample(10 * kTick, 5);
  EXPECT_EQ(meter.per_second(), 0);
  meter.sample(11 * kTick, 7);
  EXPECT_DOUBLE_EQ(meter.per_second(), 20);
}

}  // namespace
}  // namespace weir::server
