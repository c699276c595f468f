// What a limit accepts, what a refusal says, and the arithmetic wider than 128 bits.
#include "algorithms/limit.h"

#include <gtest/gtest.h>

#include "algorithms/gcra.h"
#include "algorithms/wide.h"
#include "tests/algorithms/rng.h"

namespace weir::algorithms::testing {
namespace {

std::string gcra_refusal(int64_t capacity, int64_t count, int64_t period_ns) {
  const auto limit = make_limit(
      {.algorithm = &algorithm_gcra, .count = count, .period_ns = period_ns, .capacity = capacity});
  return limit.ok() ? "" : limit.error().text();
}

TEST(Limit, EndsOfTheRangesAreInside) {
  EXPECT_EQ(gcra_refusal(1, 1, kPeriodNsMin), "");
  EXPECT_EQ(gcra_refusal(1, 1, kPeriodNsMax), "");
  EXPECT_EQ(gcra_refusal(1, 1'000, kPeriodNsMin), "");
  EXPECT_EQ(gcra_refusal(kCapacityMax, kNsPerS, kNsPerS), "");
  EXPECT_EQ(gcra_refusal(10, 1, kPeriodNsMax), "");
}

TEST(Limit, JustOutsideIsRefusedByName) {
  EXPECT_EQ(gcra_refusal(1, 1, 999), "period must be between 1us and 3650d, got '999ns'");
  EXPECT_EQ(gcra_refusal(1, 1, 0), "period must be between 1us and 3650d, got '0s'");
  EXPECT_EQ(gcra_refusal(1, 1, kPeriodNsMax + kNsPerDay),
            "period must be between 1us and 3650d, got '3651d'");
  EXPECT_EQ(gcra_refusal(1, 0, kNsPerS), "count must be at least 1, got '0'");
  EXPECT_EQ(gcra_refusal(1, 1'001, 1'000),
            "rate must be at most 1000000000 per second, got '1001/1us'");
  EXPECT_EQ(gcra_refusal(0, 1, kNsPerS), "capacity must be between 1 and 1000000000000, got '0'");
  EXPECT_EQ(gcra_refusal(kCapacityMax + 1, 1'000, kNsPerS),
            "capacity must be between 1 and 1000000000000, got '1000000000001'");
  EXPECT_EQ(gcra_refusal(11, 1, kPeriodNsMax),
            "capacity * period / count must be at most 36500d (100 years), got "
            "'11 permits at 1/3650d'");
}

TEST(Limit, KeepsWhatWasGivenBesideTheReducedRate) {
  const Limit limit =
      make_limit(
          {.algorithm = &algorithm_gcra, .count = 30, .period_ns = 60 * kNsPerS, .capacity = 16})
          .value();
  EXPECT_EQ(limit.count, 30);
  EXPECT_EQ(limit.period_ns, 60 * kNsPerS);
  EXPECT_EQ(limit.rate_count, 1);
  EXPECT_EQ(limit.rate_period_ns, 2 * kNsPerS);
  EXPECT_EQ(limit.fill_ns, 32 * kNsPerS);
}

TEST(Limit, DurationsUseTheLargestWholeUnit) {
  EXPECT_EQ(format_duration(1), "1ns");
  EXPECT_EQ(format_duration(1'500), "1500ns");
  EXPECT_EQ(format_duration(20 * kNsPerMs), "20ms");
  EXPECT_EQ(format_duration(90 * kNsPerS), "90s");
  EXPECT_EQ(format_duration(3'600 * kNsPerS), "1h");
  EXPECT_EQ(format_duration(-kNsPerDay), "-1d");
}

TEST(Limit, AlgorithmsAreFoundByNameInAnyCaseAndById) {
  EXPECT_EQ(find_algorithm("gCrA"), &algorithm_gcra);
  EXPECT_EQ(find_algorithm(uint8_t{1}), &algorithm_gcra);
  EXPECT_EQ(find_algorithm("GCR"), nullptr);
  EXPECT_EQ(find_algorithm(""), nullptr);
  EXPECT_EQ(find_algorithm(uint8_t{0}), nullptr);
}

TEST(Wide, AgreesWith128BitsWhereTheyAreEnough) {
  Seeded seeded;
  for (int i = 0; i < 10'000; ++i) {
    const auto a = static_cast<uint128>(seeded.rng.any_magnitude(0, kFillNsMax));
    const auto b = static_cast<uint128>(seeded.rng.any_magnitude(0, kFillNsMax));
    const auto d = static_cast<uint128>(seeded.rng.any_magnitude(1, kFillNsMax));
    ASSERT_TRUE(mul_div_ceil(a, b, d) == (a * b + d - 1) / d);
  }
}

TEST(Wide, GoesBeyond128Bits) {
  const uint128 most = ~uint128{0};
  EXPECT_TRUE(mul_div_ceil(most, most, most) == most);
  EXPECT_TRUE(mul_div_ceil(most - 1, most, most) == most - 1);
  EXPECT_TRUE(mul_div_ceil(most, most - 2, most - 1) == most - 1);  // m - 1 - 1/(m - 1), up
  EXPECT_TRUE(mul_div_ceil(most, 3, 2) == most);                    // saturated
  EXPECT_TRUE(mul_div_ceil(0, most, 7) == 0);
  Seeded seeded;
  for (int i = 0; i < 10'000; ++i) {  // a * (b * d) / d and one unit more
    const auto a = static_cast<uint128>(seeded.rng.any_magnitude(1, kFillNsMax));
    const auto b = static_cast<uint128>(seeded.rng.any_magnitude(1, kFillNsMax));
    const auto d = static_cast<uint128>(seeded.rng.any_magnitude(2, kFillNsMax));
    ASSERT_TRUE(mul_div_ceil(a * b, d, d) == a * b);
    ASSERT_TRUE(mul_div_ceil(b * d, a, d) == a * b);
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
