// GCRA against hand-derived tables, the published replies of redis-cell, and what the dialects
// need beyond deciding: limits from their arguments, refunds, foreign state.
#include "algorithms/gcra.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

int64_t seconds_up(int64_t ns) { return ns / kNsPerS + (ns % kNsPerS > 0); }

// The five integers of CL.THROTTLE, to read the published sequences as they were published.
std::vector<int64_t> five(const Verdict& v) {
  const int64_t retry_s =
      v.allowed || v.retry_after_ns == kNever ? -1 : seconds_up(v.retry_after_ns);
  return {!v.allowed, v.limit, v.remaining, retry_s, seconds_up(v.reset_after_ns)};
}

using Five = std::vector<int64_t>;

class Throttle {
 public:
  explicit Throttle(const ThrottleArgs& args)
      : limit(gcra_limit_from_throttle(args).value()), state(fresh_state(limit, kStartNs)) {}

  // A negative cost gives permits back.
  Five at(int64_t second, int64_t cost = 1) {
    const int64_t now_ns = kStartNs + second * kNsPerS;
    if (cost < 0) return five(refund(limit, state, {.now_ns = now_ns, .permits = -cost}));
    return five(decide(limit, state, {.now_ns = now_ns, .cost = cost}));
  }

  Limit limit;
  State state;
};

TEST(Gcra, FirstPublishedVector) {
  Throttle throttle({.max_burst = 15, .count = 30, .period_s = 60});
  EXPECT_EQ(throttle.at(0), (Five{0, 16, 15, -1, 2}));
}

TEST(Gcra, SecondPublishedVector) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 4, -1, 10}));
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 3, -1, 20}));
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 2, -1, 30}));
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 1, -1, 40}));
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 0, -1, 50}));
  EXPECT_EQ(throttle.at(0), (Five{1, 5, 0, 10, 50}));
  EXPECT_EQ(throttle.at(9), (Five{1, 5, 0, 1, 41}));
  EXPECT_EQ(throttle.at(10), (Five{0, 5, 0, -1, 50}));
}

TEST(Gcra, MoreThanCapacityIsNeverAndLeavesNoTrace) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  EXPECT_EQ(throttle.at(0, 6), (Five{1, 5, 5, -1, 0}));
  const State fresh = fresh_state(throttle.limit, kStartNs);
  EXPECT_EQ(bytes_of(throttle.limit, throttle.state), bytes_of(throttle.limit, fresh));
}

TEST(Gcra, CostZeroReadsAndANegativeOneGivesBack) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  EXPECT_EQ(throttle.at(0, 0), (Five{0, 5, 5, -1, 0}));
  EXPECT_EQ(throttle.at(0, 3), (Five{0, 5, 2, -1, 30}));
  EXPECT_EQ(throttle.at(0, 0), (Five{0, 5, 2, -1, 30}));
  EXPECT_EQ(throttle.at(0, -2), (Five{0, 5, 4, -1, 10}));
  EXPECT_EQ(throttle.at(0, -2), (Five{0, 5, 5, -1, 0}));
  EXPECT_EQ(throttle.at(0, 5), (Five{0, 5, 0, -1, 50}));
  EXPECT_EQ(throttle.at(0, -kCostMax), (Five{0, 5, 5, -1, 0}));
}

// 3 per second: one permit every 333,333,333 1/3 ns, due at ...334, ...667 and exactly 10^9.
TEST(Gcra, ThreePerSecondCapacityTwo) {
  const Limit limit =
      make_limit({.algorithm = &algorithm_gcra, .count = 3, .period_ns = kNsPerS, .capacity = 2})
          .value();
  expect_table(limit, {
                          {0, 1, {true, 2, 1, 0, 333'333'334, true}},
                          {0, 1, {true, 2, 0, 0, 666'666'667, true}},
                          {0, 1, {false, 2, 0, 333'333'334, 666'666'667, false}},
                          {333'333'333, 1, {false, 2, 0, 1, 333'333'334, false}},
                          {333'333'334, 1, {true, 2, 0, 0, 666'666'666, true}},
                          {666'666'666, 1, {false, 2, 0, 1, 333'333'334, false}},
                          {666'666'667, 1, {true, 2, 0, 0, 666'666'667, true}},
                          {999'999'999, 1, {false, 2, 0, 1, 666'666'668 - 333'333'333, false}},
                          {1'000'000'000, 1, {true, 2, 0, 0, 666'666'667, true}},
                          {1'000'000'000, 3, {false, 2, 0, kNever, 666'666'667, false}},
                          {1'666'666'666, 0, {true, 2, 1, 0, 1, false}},
                          {1'666'666'667, 0, {true, 2, 2, 0, 0, false}},
                          {1'666'666'667, 2, {true, 2, 0, 0, 666'666'667, true}},
                      });
}

// Capacity 1 has no room for a fraction, yet loses none: the fourth is let in at 10^9 sharp.
TEST(Gcra, ThreePerSecondCapacityOne) {
  const Limit limit =
      make_limit({.algorithm = &algorithm_gcra, .count = 3, .period_ns = kNsPerS, .capacity = 1})
          .value();
  expect_table(limit,
               {
                   {0, 1, {true, 1, 0, 0, 333'333'334, true}},
                   {333'333'333, 1, {false, 1, 0, 1, 1, false}},
                   {333'333'334, 1, {true, 1, 0, 0, 333'333'333, true}},
                   {666'666'666, 1, {false, 1, 0, 1, 1, false}},
                   {666'666'667, 1, {true, 1, 0, 0, 333'333'333, true}},
                   {999'999'999, 1, {false, 1, 0, 1, 1, false}},
                   {1'000'000'000, 1, {true, 1, 0, 0, 333'333'334, true}},
                   // Full since ...333 1/3: a nanosecond later that is past, and starts anew.
                   {1'333'333'335, 1, {true, 1, 0, 0, 333'333'334, true}},
               });
}

// 600 million per second: three permits in five nanoseconds.
TEST(Gcra, SixHundredMillionPerSecond) {
  const Limit limit =
      make_limit(
          {.algorithm = &algorithm_gcra, .count = 600'000'000, .period_ns = kNsPerS, .capacity = 3})
          .value();
  expect_table(limit, {
                          {0, 3, {true, 3, 0, 0, 5, true}},
                          {1, 1, {false, 3, 0, 1, 4, false}},
                          {2, 1, {true, 3, 0, 0, 5, true}},
                          {3, 1, {false, 3, 0, 1, 4, false}},
                          {4, 1, {true, 3, 0, 0, 5, true}},
                          {5, 1, {true, 3, 0, 0, 5, true}},
                          {5, 1, {false, 3, 0, 2, 5, false}},
                          {9, 0, {true, 3, 2, 0, 1, false}},
                          {10, 0, {true, 3, 3, 0, 0, false}},
                          {10'000, 0, {true, 3, 3, 0, 0, false}},
                      });
}

// 1 per 3650 days, the slowest there is.
TEST(Gcra, OnePerTenYears) {
  const Limit limit =
      make_limit(
          {.algorithm = &algorithm_gcra, .count = 1, .period_ns = kPeriodNsMax, .capacity = 10})
          .value();
  expect_table(limit,
               {
                   {0, 10, {true, 10, 0, 0, kFillNsMax, true}},
                   {1, 1, {false, 10, 0, kPeriodNsMax - 1, kFillNsMax - 1, false}},
                   {kPeriodNsMax - 1, 1, {false, 10, 0, 1, kFillNsMax - kPeriodNsMax + 1, false}},
                   {kPeriodNsMax, 1, {true, 10, 0, 0, kFillNsMax, true}},
               });
}

TEST(Gcra, ForceGoesIntoDebtAndTimePaysIt) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  const Request forced{.now_ns = kStartNs, .cost = 8, .force = true};
  EXPECT_EQ(five(decide(throttle.limit, throttle.state, forced)), (Five{0, 5, 0, -1, 80}));
  EXPECT_EQ(throttle.at(0), (Five{1, 5, 0, 40, 80}));
  EXPECT_EQ(throttle.at(0, -1), (Five{0, 5, 0, -1, 70}));
  EXPECT_EQ(throttle.at(29), (Five{1, 5, 0, 1, 41}));
  EXPECT_EQ(throttle.at(30), (Five{0, 5, 0, -1, 50}));
}

TEST(Gcra, DebtBeyondInstantsIsNever) {
  const Limit limit =
      make_limit(
          {.algorithm = &algorithm_gcra, .count = 1, .period_ns = kPeriodNsMax, .capacity = 10})
          .value();
  State state = fresh_state(limit, kStartNs);
  const std::string before = bytes_of(limit, state);
  const Verdict verdict =
      decide(limit, state, {.now_ns = kStartNs, .cost = kCostMax, .force = true});
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after_ns, kNever);
  EXPECT_EQ(bytes_of(limit, state), before);
}

TEST(Gcra, AClockStepDelaysButNeitherGrantsNorSticks) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  EXPECT_EQ(throttle.at(1'000, 5), (Five{0, 5, 0, -1, 50}));
  EXPECT_EQ(throttle.at(900), (Five{1, 5, 0, 110, 150}));  // back: the step is waited out
  EXPECT_EQ(throttle.at(1'010), (Five{0, 5, 0, -1, 50}));  // as if it had not happened
  EXPECT_EQ(throttle.at(9'000), (Five{0, 5, 4, -1, 10}));  // forward: full, and no more
}

TEST(Gcra, ThrottleArgumentsOutOfRangeAreNamed) {
  const auto refusal = [](const ThrottleArgs& args) {
    return gcra_limit_from_throttle(args).error().text();
  };
  const int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(refusal({.max_burst = -1, .count = 1, .period_s = 1}),
            "max_burst must be between 0 and 999999999999, got '-1'");
  EXPECT_EQ(refusal({.max_burst = max, .count = 1, .period_s = 1}),
            "max_burst must be between 0 and 999999999999, got '9223372036854775807'");
  EXPECT_EQ(refusal({.max_burst = 1, .count = 0, .period_s = 1}),
            "count must be at least 1, got '0'");
  EXPECT_EQ(refusal({.max_burst = 1, .count = 1, .period_s = 0}),
            "period must be between 1 and 315360000 seconds, got '0'");
  EXPECT_EQ(refusal({.max_burst = 1, .count = 1, .period_s = max}),
            "period must be between 1 and 315360000 seconds, got '9223372036854775807'");
  EXPECT_EQ(refusal({.max_burst = 1, .count = max, .period_s = 1}),
            "rate must be at most 1000000000 per second, got '9223372036854775807/1s'");
  EXPECT_EQ(refusal({.max_burst = 10, .count = 1, .period_s = 315'360'000}),
            "capacity * period / count must be at most 36500d (100 years), got "
            "'11 permits at 1/3650d'");
  EXPECT_TRUE(gcra_limit_from_throttle({.max_burst = 9, .count = 1, .period_s = 315'360'000}));
  EXPECT_TRUE(
      gcra_limit_from_throttle({.max_burst = kCapacityMax - 1, .count = 1'000, .period_s = 1}));
}

TEST(Gcra, AdoptsAForeignInstantWithinTenYears) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  const auto adopt = [](int64_t ahead_ns) {
    return gcra_state_from_tat({.tat_ns = kStartNs + ahead_ns, .now_ns = kStartNs});
  };
  throttle.state = adopt(30 * kNsPerS).value();
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 1, -1, 40}));
  throttle.state = adopt(-kForeignTatNsMax).value();
  EXPECT_EQ(throttle.at(0), (Five{0, 5, 4, -1, 10}));
  EXPECT_TRUE(adopt(kForeignTatNsMax).has_value());
  EXPECT_FALSE(adopt(kForeignTatNsMax + 1).has_value());
  EXPECT_FALSE(adopt(-kForeignTatNsMax - 1).has_value());
  EXPECT_FALSE(
      gcra_state_from_tat({.tat_ns = std::numeric_limits<int64_t>::max(), .now_ns = kStartNs})
          .has_value());
}

TEST(Gcra, NegativeCostIsABug) {
  Throttle throttle({.max_burst = 4, .count = 1, .period_s = 10});
  EXPECT_THROW(decide(throttle.limit, throttle.state, {.now_ns = kStartNs, .cost = -1}),
               BrokenCheck);
  EXPECT_THROW(refund(throttle.limit, throttle.state, {.now_ns = kStartNs, .permits = -1}),
               BrokenCheck);
}

}  // namespace
}  // namespace weir::algorithms::testing
