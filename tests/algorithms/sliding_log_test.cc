// SLIDINGLOG against tables derived by hand, and what it does to its entries.
#include "tests/algorithms/counting_entries.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

const Limit kFive = windowed(algorithm_sliding_log, 5, 10 * kSecond);

TEST(SlidingLog, FivePerTenSeconds) {
  expect_table(kFive, {
                          {0, 3, {true, 5, 2, 0, 10 * kSecond, true}},
                          {4 * kSecond, 2, {true, 5, 0, 0, 10 * kSecond, true}},
                          {6 * kSecond, 1, {false, 5, 0, 4 * kSecond, 8 * kSecond, false}},
                          {6 * kSecond, 3, {false, 5, 0, 4 * kSecond, 8 * kSecond, false}},
                          {6 * kSecond, 4, {false, 5, 0, 8 * kSecond, 8 * kSecond, false}},
                          {10 * kSecond - 1, 1, {false, 5, 0, 1, 4 * kSecond + 1, false}},
                          {10 * kSecond, 3, {true, 5, 0, 0, 10 * kSecond, true}},
                          {14 * kSecond - 1, 2, {false, 5, 0, 1, 6 * kSecond + 1, false}},
                          {14 * kSecond, 0, {true, 5, 2, 0, 6 * kSecond, false}},
                          {14 * kSecond, 6, {false, 5, 2, kNever, 6 * kSecond, false}},
                          {14 * kSecond, 2, {true, 5, 0, 0, 10 * kSecond, true}},
                          {14 * kSecond, -4, {true, 5, 4, 0, 6 * kSecond, true}},
                          {20 * kSecond - 1, 5, {false, 5, 4, 1, 1, false}},
                          {20 * kSecond, 5, {true, 5, 0, 0, 10 * kSecond, true}},
                          {20 * kSecond, -9, {true, 5, 5, 0, 0, true}},
                          {20 * kSecond, -9, {true, 5, 5, 0, 0, false}},
                          {20 * kSecond, 5, {true, 5, 0, 0, 10 * kSecond, true}},
                      });
}

TEST(SlidingLog, AClockSetBackAgesNothing) {
  expect_table(kFive, {
                          {20 * kSecond, 5, {true, 5, 0, 0, 10 * kSecond, true}},
                          {3 * kSecond, 1, {false, 5, 0, 27 * kSecond, 27 * kSecond, false}},
                          {30 * kSecond, 5, {true, 5, 0, 0, 10 * kSecond, true}},
                      });
}

struct Log {
  Limit limit;
  State state = {};
  CountingEntries entries = {};

  Verdict take(int64_t after_ns, int64_t cost) {
    return decide(limit, state, {.now_ns = kStartNs + after_ns, .cost = cost, .entries = &entries});
  }
  Verdict give_back(int64_t after_ns, int64_t permits) {
    return refund(limit, state,
                  {.now_ns = kStartNs + after_ns, .permits = permits, .entries = &entries});
  }
  Verdict carried(const Limit& to, int64_t after_ns, int64_t cost = 0) {
    const int64_t now_ns = kStartNs + after_ns;
    const State next = carry_over(limit, to, state, CarryOver::kAsIs, now_ns, &entries);
    return peek(to, next, now_ns, cost, &entries);
  }
};

TEST(SlidingLog, GrantsOfOneInstantAreOneEntry) {
  Log log{kFive};
  log.take(1, 2);
  log.take(1, 1);
  log.take(2, 1);
  EXPECT_EQ(log.entries.size(), 2u);
  EXPECT_EQ(log.entries.find(kStartNs + 1)->at_ns, kStartNs + 1);
  log.give_back(2, 2);  // the newest goes, and one of the oldest
  EXPECT_EQ(log.entries.size(), 1u);
  EXPECT_EQ(log.take(2, 0).remaining, 3);
}

TEST(SlidingLog, AGrantRemovesAFewOldEntriesAndADenialNone) {
  Log log{windowed(algorithm_sliding_log, 1'000, kSecond)};
  for (int64_t at = 0; at < 200; ++at) ASSERT_TRUE(log.take(at, 1).allowed);
  const int64_t before = log.entries.changes;
  EXPECT_FALSE(log.take(2 * kSecond, 1'001).allowed);
  EXPECT_EQ(log.take(2 * kSecond, 0).remaining, 1'000);
  EXPECT_EQ(log.entries.changes, before);
  EXPECT_EQ(log.take(2 * kSecond, 7).remaining, 993);
  EXPECT_EQ(log.entries.size(), 200u - 64u + 1u);
  EXPECT_EQ(log.take(2 * kSecond + 1, 1).remaining, 992);
  EXPECT_EQ(log.take(2 * kSecond + 2, 1).remaining, 991);
  EXPECT_EQ(log.take(2 * kSecond + 3, 1).remaining, 990);
  EXPECT_EQ(log.entries.size(), 4u);
}

TEST(SlidingLog, GivingEverythingBackIsShortWorkToo) {
  Log log{windowed(algorithm_sliding_log, 1'000, kSecond)};
  for (int64_t at = 0; at < 1'000; ++at) ASSERT_TRUE(log.take(at, 1).allowed);
  const int64_t before = log.entries.changes;
  EXPECT_EQ(log.give_back(1'000, kCostMax).remaining, 1'000);
  EXPECT_LE(log.entries.changes - before, 64);
  EXPECT_EQ(log.take(999, 400).remaining, 600);  // at the stamp of an entry that counts no more
  EXPECT_EQ(log.take(1'001, 600).remaining, 0);
  EXPECT_EQ(log.take(1'001, 500).retry_after_ns, kSecond);
  EXPECT_EQ(log.take(1'001, 400).retry_after_ns, kSecond - 2);
}

TEST(SlidingLog, ManyEntriesCostAFewLooks) {
  constexpr int64_t kMany = 100'000;
  Log log{windowed(algorithm_sliding_log, kMany, kSecond)};
  for (int64_t at = 0; at < kMany; ++at) ASSERT_TRUE(log.take(at, 1).allowed);
  const int64_t changes = log.entries.changes;
  for (const int64_t after_ns : {kMany, kSecond, kSecond + kMany / 2, kSecond + kMany - 2}) {
    log.entries.looks = 0;
    const int64_t expired = std::max<int64_t>(0, after_ns - kSecond + 1);
    EXPECT_EQ(log.take(after_ns, kMany).retry_after_ns,
              expired == kMany ? 0 : kSecond + kMany - 1 - after_ns);
    EXPECT_EQ(log.take(after_ns, 0).remaining, expired);
    EXPECT_LT(log.entries.looks, 200);
  }
  EXPECT_EQ(log.entries.changes, changes);
}

TEST(SlidingLog, WhatIsUsedStaysUsed) {
  Log log{kFive};
  log.take(0, 3);
  log.take(4 * kSecond, 2);
  EXPECT_EQ(log.carried(windowed(algorithm_sliding_log, 8, 10 * kSecond), 6 * kSecond).remaining,
            3);
  EXPECT_EQ(log.carried(windowed(algorithm_sliding_log, 4, 10 * kSecond), 6 * kSecond).remaining,
            0);
  // At second 12 the three are back, and a longer period does not take them again.
  const Limit longer = windowed(algorithm_sliding_log, 8, 60 * kSecond);
  EXPECT_EQ(log.carried(longer, 12 * kSecond).remaining, 6);
  EXPECT_EQ(log.carried(longer, 12 * kSecond, 8).retry_after_ns, 52 * kSecond);
  EXPECT_EQ(
      log.carried(windowed(algorithm_sliding_log, 1, 10 * kSecond), 12 * kSecond, 1).retry_after_ns,
      2 * kSecond);
  // Under a shorter period each grant is as old as it is.
  EXPECT_EQ(log.carried(windowed(algorithm_sliding_log, 5, 3 * kSecond), 6 * kSecond).remaining, 3);
}

TEST(SlidingLog, RefusalsNameTheRange) {
  LimitSpec spec{.algorithm = &algorithm_sliding_log, .count = 1'000'001, .period_ns = kSecond};
  EXPECT_EQ(refusal(spec), "count must be between 1 and 1000000, got '1000001'");
  spec.count = 1'000'000;
  EXPECT_EQ(refusal(spec), "");
}

}  // namespace
}  // namespace weir::algorithms::testing
