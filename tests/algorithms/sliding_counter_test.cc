// SLIDINGCOUNTER against tables derived by hand.
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

Limit ten(int64_t period_ns = 10 * kSecond) {
  return windowed(algorithm_sliding_counter, 10, period_ns);
}

// kStartNs is the beginning of a window.
TEST(SlidingCounter, TenPerTenSeconds) {
  expect_table(ten(), {
                          {9 * kSecond, 10, {true, 10, 0, 0, 11 * kSecond, true}},
                          {9 * kSecond, 1, {false, 10, 0, 2 * kSecond, 11 * kSecond, false}},
                          {10 * kSecond, 1, {false, 10, 0, kSecond, 10 * kSecond, false}},
                          {11 * kSecond - 1, 1, {false, 10, 0, 1, 9 * kSecond + 1, false}},
                          {11 * kSecond, 0, {true, 10, 1, 0, 9 * kSecond, false}},
                          {11 * kSecond, 1, {true, 10, 0, 0, 19 * kSecond, true}},
                          {11 * kSecond, 1, {false, 10, 0, kSecond, 19 * kSecond, false}},
                          {12 * kSecond, 9, {false, 10, 1, 8 * kSecond, 18 * kSecond, false}},
                          {12 * kSecond, 10, {false, 10, 1, 18 * kSecond, 18 * kSecond, false}},
                          {12 * kSecond, 11, {false, 10, 1, kNever, 18 * kSecond, false}},
                          {20 * kSecond - 1, 9, {false, 10, 8, 1, 10 * kSecond + 1, false}},
                          {20 * kSecond, 9, {true, 10, 0, 0, 20 * kSecond, true}},
                          {20 * kSecond, -9, {true, 10, 9, 0, 10 * kSecond, true}},
                          {20 * kSecond, -9, {true, 10, 10, 0, 0, true}},
                          {20 * kSecond, -9, {true, 10, 10, 0, 0, false}},
                      });
}

// A permit of the previous window gives back the share of it that still counts.
TEST(SlidingCounter, RefundsGoBackToThePreviousWindow) {
  expect_table(ten(), {
                          {9 * kSecond, 10, {true, 10, 0, 0, 11 * kSecond, true}},
                          {15 * kSecond, 2, {true, 10, 3, 0, 15 * kSecond, true}},
                          {15 * kSecond, -4, {true, 10, 6, 0, 5 * kSecond, true}},
                          {15 * kSecond, -1, {true, 10, 6, 0, 5 * kSecond, true}},
                          {15 * kSecond, -1, {true, 10, 7, 0, 5 * kSecond, true}},
                      });
}

TEST(SlidingCounter, AClockSetBackStaysInTheWindow) {
  expect_table(ten(), {
                          {20 * kSecond, 10, {true, 10, 0, 0, 20 * kSecond, true}},
                          {5 * kSecond, 1, {false, 10, 0, 26 * kSecond, 35 * kSecond, false}},
                          {31 * kSecond, 1, {true, 10, 0, 0, 19 * kSecond, true}},
                      });
}

// Who knows the rule gets 2 * count - 1 within a period, and no more.
TEST(SlidingCounter, TheWorstOfAPeriod) {
  const Limit limit = ten();
  State state;
  int64_t taken = 10;
  ASSERT_TRUE(decide(limit, state, {.now_ns = kStartNs + 10 * kSecond - 1, .cost = 10}).allowed);
  for (int64_t tick = 0; tick < 1'000; ++tick) {  // to the last moment of the period
    const int64_t at_ns = kStartNs + 10 * kSecond + tick * (kSecond / 100);
    taken += decide(limit, state, {.now_ns = at_ns}).allowed;
  }
  EXPECT_EQ(taken, 19);
}

// Products beyond 64 bits: 10^12 per ten years.
TEST(SlidingCounter, TheLargestNumbersAreExact) {
  const Limit limit = windowed(algorithm_sliding_counter, kCapacityMax, kPeriodNsMax);
  const int64_t first_ns = 5 * kPeriodNsMax - 1;
  State state;
  ASSERT_TRUE(decide(limit, state, {.now_ns = first_ns, .cost = kCapacityMax}).allowed);
  // The share falls by one each 315,360 ns.
  EXPECT_EQ(peek(limit, state, first_ns + 1, 1).retry_after_ns, 315'360);
  EXPECT_EQ(peek(limit, state, first_ns + 1, kCapacityMax).retry_after_ns, kPeriodNsMax);
  EXPECT_EQ(peek(limit, state, first_ns + 315'360, 1).retry_after_ns, 1);
  EXPECT_TRUE(peek(limit, state, first_ns + 315'361, 1).allowed);
}

TEST(SlidingCounter, WhatIsUsedStaysUsed) {
  State state;
  decide(ten(), state, {.now_ns = kStartNs + 9 * kSecond, .cost = 9});
  const int64_t now_ns = kStartNs + 15 * kSecond;  // 4.5 of the nine still count
  const auto carried = [&](const Limit& to) {
    const State next = carry_over(ten(), to, state, CarryOver::kAsIs, now_ns);
    return peek(to, next, now_ns, 0);
  };
  EXPECT_EQ(carried(windowed(algorithm_sliding_counter, 100, 10 * kSecond)).remaining, 95);
  EXPECT_EQ(carried(windowed(algorithm_sliding_counter, 100, 10 * kSecond)).reset_after_ns,
            5 * kSecond);
  EXPECT_EQ(carried(windowed(algorithm_sliding_counter, 4, 10 * kSecond)).remaining, 0);
  EXPECT_EQ(carried(windowed(algorithm_sliding_counter, 100, 60 * kSecond)).remaining, 95);
  EXPECT_EQ(carried(ten(kSecond)).remaining, 5);
}

}  // namespace
}  // namespace weir::algorithms::testing
