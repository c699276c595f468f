// SLIDINGWINDOW against tables derived by hand, with and without a cap per sub-window.
#include "tests/algorithms/counting_entries.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

Limit ten_in_five(int64_t per_bucket = 0) {
  return windowed(algorithm_sliding_window, 10, 10 * kSecond, {5, per_bucket});
}

// Sub-windows of two seconds; kStartNs is the beginning of one. What is taken in the one that
// begins at s counts until s + 12.
TEST(SlidingWindow, TenPerTenSecondsInFive) {
  expect_table(ten_in_five(),
               {
                   {3 * kSecond, 10, {true, 10, 0, 0, 11 * kSecond, true}},
                   {13 * kSecond, 1, {false, 10, 0, kSecond, kSecond, false}},
                   {14 * kSecond - 1, 1, {false, 10, 0, 1, 1, false}},
                   {14 * kSecond, 10, {true, 10, 0, 0, 12 * kSecond, true}},
                   {14 * kSecond, -4, {true, 10, 4, 0, 12 * kSecond, true}},
                   {15 * kSecond, 3, {true, 10, 1, 0, 11 * kSecond, true}},
                   {16 * kSecond, 1, {true, 10, 0, 0, 12 * kSecond, true}},
                   {16 * kSecond, 1, {false, 10, 0, 10 * kSecond, 12 * kSecond, false}},
                   {16 * kSecond, 10, {false, 10, 0, 12 * kSecond, 12 * kSecond, false}},
                   {16 * kSecond, 11, {false, 10, 0, kNever, 12 * kSecond, false}},
                   {16 * kSecond, -2, {true, 10, 2, 0, 10 * kSecond, true}},
               });
}

TEST(SlidingWindow, AtMostFourPerSubWindow) {
  expect_table(ten_in_five(4),
               {
                   {kSecond, 4, {true, 4, 0, 0, 11 * kSecond, true}},
                   {kSecond, 1, {false, 4, 0, kSecond, 11 * kSecond, false}},
                   {2 * kSecond - 1, 1, {false, 4, 0, 1, 10 * kSecond + 1, false}},
                   {2 * kSecond, 4, {true, 4, 0, 0, 12 * kSecond, true}},
                   {4 * kSecond, 3, {false, 4, 2, 8 * kSecond, 10 * kSecond, false}},
                   {4 * kSecond, 2, {true, 4, 0, 0, 12 * kSecond, true}},
                   {4 * kSecond, 2, {false, 4, 0, 8 * kSecond, 12 * kSecond, false}},
                   {12 * kSecond, 4, {true, 4, 0, 0, 12 * kSecond, true}},
                   {12 * kSecond, 5, {false, 4, 0, kNever, 12 * kSecond, false}},
                   {13 * kSecond, 1, {false, 4, 0, kSecond, 11 * kSecond, false}},
               });
}

TEST(SlidingWindow, AClockSetBackStaysInTheSubWindow) {
  expect_table(ten_in_five(4),
               {
                   {20 * kSecond, 4, {true, 4, 0, 0, 12 * kSecond, true}},
                   {3 * kSecond, 1, {false, 4, 0, 19 * kSecond, 29 * kSecond, false}},
                   {22 * kSecond, 4, {true, 4, 0, 0, 12 * kSecond, true}},
               });
}

// n counters in place of n + 1 would let 20 through within ten seconds here.
TEST(SlidingWindow, TwoFullTakesAreMoreThanAPeriodApart) {
  expect_table(ten_in_five(),
               {
                   {2 * kSecond - 1, 10, {true, 10, 0, 0, 10 * kSecond + 1, true}},
                   {10 * kSecond, 1, {false, 10, 0, 2 * kSecond, 2 * kSecond, false}},
                   {12 * kSecond, 10, {true, 10, 0, 0, 12 * kSecond, true}},
               });
}

TEST(SlidingWindow, AThousandCountersCostAFewLooks) {
  const Limit limit = windowed(algorithm_sliding_window, 1'000, kSecond, {1'000, 0});
  const int64_t width_ns = kSecond / 1'000;
  State state;
  CountingEntries entries;
  for (int64_t i = 0; i < 1'000; ++i) {
    const Request one{.now_ns = kStartNs + i * width_ns, .cost = 1, .entries = &entries};
    ASSERT_TRUE(decide(limit, state, one).allowed);
  }
  EXPECT_EQ(entries.size(), 1'000u);
  entries.looks = 0;
  const int64_t now_ns = kStartNs + 1'000 * width_ns;
  EXPECT_EQ(peek(limit, state, now_ns, 500, &entries).retry_after_ns, 500 * width_ns);
  EXPECT_LT(entries.looks, 100);
}

struct Carried {
  State state;
  MapEntries entries;
  Limit to;
  int64_t now_ns;

  Carried(const Limit& from, const Limit& to, int64_t now_ns) : to(to), now_ns(now_ns) {
    decide(from, state, {.now_ns = kStartNs, .cost = 6, .entries = &entries});
    decide(from, state, {.now_ns = kStartNs + 3 * kSecond, .cost = 3, .entries = &entries});
    const std::string before = entries.text();
    state = carry_over(from, to, state, CarryOver::kAsIs, now_ns, &entries);
    EXPECT_EQ(entries.text(), before);
  }
  Verdict take(int64_t cost, int64_t after_ns = 0) {
    return decide(to, state, {.now_ns = now_ns + after_ns, .cost = cost, .entries = &entries});
  }
};

TEST(SlidingWindow, WithTheSameWidthCountersGoOn) {
  const int64_t now_ns = kStartNs + 5 * kSecond;
  Carried more(ten_in_five(), windowed(algorithm_sliding_window, 100, 10 * kSecond, {5, 0}),
               now_ns);
  EXPECT_EQ(more.take(0).remaining, 91);
  Carried longer(ten_in_five(), windowed(algorithm_sliding_window, 10, 20 * kSecond, {10, 0}),
                 kStartNs + 12 * kSecond);
  EXPECT_EQ(longer.take(0).remaining, 7);                  // the six were back under the old period
  EXPECT_EQ(longer.take(8).retry_after_ns, 12 * kSecond);  // the three until 2 + 22
}

TEST(SlidingWindow, WithAnotherWidthAllComesBackTogether) {
  Carried carried(ten_in_five(), windowed(algorithm_sliding_window, 10, 10 * kSecond, {10, 0}),
                  kStartNs + 5 * kSecond);
  EXPECT_EQ(carried.take(0), (Verdict{true, 10, 1, 0, 11 * kSecond, false}));
  EXPECT_EQ(carried.take(2), (Verdict{false, 10, 1, 11 * kSecond, 11 * kSecond, false}));
  EXPECT_EQ(carried.take(1), (Verdict{true, 10, 0, 0, 11 * kSecond, true}));
  EXPECT_EQ(carried.take(2, 11 * kSecond - 1).retry_after_ns, 1);
  EXPECT_EQ(carried.take(10, 11 * kSecond), (Verdict{true, 10, 0, 0, 11 * kSecond, true}));
}

// A wider sub-window may begin before the newest old counter.
TEST(SlidingWindow, AWiderSubWindowCountsOnAndKeepsItsCap) {
  Carried carried(ten_in_five(), windowed(algorithm_sliding_window, 20, 20 * kSecond, {2, 10}),
                  kStartNs + 5 * kSecond);
  EXPECT_EQ(carried.take(0).remaining, 10);  // 20 - 9, and at most 10 per sub-window
  EXPECT_TRUE(carried.take(7).allowed);
  EXPECT_EQ(carried.take(0).remaining, 3);
  EXPECT_EQ(carried.take(0).reset_after_ns, 27 * kSecond);  // with that counter: 2 + 30
  EXPECT_EQ(carried.take(0, 27 * kSecond - 1).reset_after_ns, 1);
  EXPECT_TRUE(carried.take(3).allowed);
  EXPECT_EQ(carried.take(1).retry_after_ns, 5 * kSecond);  // the next begins at 10
  EXPECT_EQ(carried.take(0, 5 * kSecond).remaining, 1);
}

TEST(SlidingWindow, RefundsGoBackwardsThroughWhatWasCarried) {
  Carried carried(ten_in_five(), windowed(algorithm_sliding_window, 10, 10 * kSecond, {10, 0}),
                  kStartNs + 5 * kSecond);
  carried.take(1);
  const auto give_back = [&](int64_t permits) {
    return refund(carried.to, carried.state,
                  {.now_ns = carried.now_ns, .permits = permits, .entries = &carried.entries});
  };
  EXPECT_EQ(give_back(4), (Verdict{true, 10, 4, 0, 11 * kSecond, true}));
  EXPECT_EQ(give_back(100), (Verdict{true, 10, 10, 0, 0, true}));
  EXPECT_EQ(give_back(1), (Verdict{true, 10, 10, 0, 0, false}));
}

TEST(SlidingWindow, RefundsTakeCountersBeforeWhatWasCarried) {
  Carried carried(ten_in_five(), windowed(algorithm_sliding_window, 10, 10 * kSecond, {10, 0}),
                  kStartNs + 5 * kSecond);
  EXPECT_EQ(carried.take(1, 2 * kSecond).reset_after_ns, 11 * kSecond);
  const Refund one{
      .now_ns = carried.now_ns + 2 * kSecond, .permits = 1, .entries = &carried.entries};
  EXPECT_EQ(refund(carried.to, carried.state, one).reset_after_ns, 9 * kSecond);
}

TEST(SlidingWindow, RefusalsNameTheOption) {
  LimitSpec spec{.algorithm = &algorithm_sliding_window, .count = 10, .period_ns = kSecond};
  spec.options = {0, 0};
  EXPECT_EQ(refusal(spec), "BUCKETS must be between 1 and 1000, got '0'");
  spec.options = {7, 0};
  EXPECT_EQ(refusal(spec), "BUCKETS must be a divisor of the period of 1000000000ns, got '7'");
  spec.options = {4, 2};
  EXPECT_EQ(refusal(spec),
            "PERBUCKET must be between count / BUCKETS, which is 3, and 1000000000000, got '2'");
  spec.options = {4, 3};
  EXPECT_EQ(refusal(spec), "");
  EXPECT_EQ(make_limit(spec)->capacity, 3);
}

}  // namespace
}  // namespace weir::algorithms::testing
