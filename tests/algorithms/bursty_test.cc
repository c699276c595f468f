// BURSTY against tables derived by hand, and the laws that a limiter taking on debt has.
#include "tests/algorithms/debt_laws.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

struct BurstyShape {
  int64_t count;
  int64_t period_ns;
  int64_t max_burst_ns;
};

LimitSpec bursty_spec(const BurstyShape& shape) {
  return {.algorithm = find_algorithm("BURSTY"),
          .count = shape.count,
          .period_ns = shape.period_ns,
          .options = {shape.max_burst_ns}};
}

Limit bursty(const BurstyShape& shape) { return make_limit(bursty_spec(shape)).value(); }

// The example at the head of bursty.cc.
TEST(Bursty, PaysForItsPredecessor) {
  expect_table(bursty({1, kSecond, 2 * kSecond}),
               {
                   {0, 3, {true, 2, 0, 0, 5 * kSecond, true}},
                   {2'900'000'000, 1, {false, 2, 0, 100'000'000, 2'100'000'000, false}},
                   {3 * kSecond - 1, 9, {false, 2, 0, 1, 2 * kSecond + 1, false}},
                   {3 * kSecond, 1, {true, 2, 0, 0, 3 * kSecond, true}},
                   {5 * kSecond - 1, 0, {true, 2, 0, 0, kSecond + 1, false}},
                   {5 * kSecond, 0, {true, 2, 1, 0, kSecond, false}},
                   {6 * kSecond - 1, 0, {true, 2, 1, 0, 1, false}},
                   {6 * kSecond, 0, {true, 2, 2, 0, 0, false}},
                   {10 * kSecond, 3, {true, 2, 0, 0, 3 * kSecond, true}},
               });
}

// Half a permit is stored, and spent.
TEST(Bursty, StoresFractions) {
  expect_table(bursty({1, kSecond, kSecond}),
               {
                   {500'000'000, 1, {true, 1, 0, 0, 1'500'000'000, true}},
                   {kSecond - 1, 1, {false, 1, 0, 1, kSecond + 1, false}},
                   {kSecond, 1, {true, 1, 0, 0, 2 * kSecond, true}},
               });
}

// A third of a second is 333,333,333 1/3 ns: next_free is rounded up, what is stored is not.
TEST(Bursty, ThreePerSecond) {
  expect_table(bursty({3, kSecond, kSecond}),
               {
                   {0, 1, {true, 3, 0, 0, 1'333'333'334, true}},
                   {333'333'333, 1, {false, 3, 0, 1, 1'000'000'001, false}},
                   {333'333'334, 1, {true, 3, 0, 0, 1'333'333'334, true}},
                   {666'666'668, 0, {true, 3, 0, 0, kSecond, false}},
                   {1'666'666'667, 0, {true, 3, 2, 0, 1, false}},
                   {1'666'666'668, 3, {true, 3, 0, 0, kSecond, true}},
                   {1'666'666'668, 1, {true, 3, 0, 0, 1'333'333'334, true}},
               });
}

TEST(Bursty, ARefundComesOffTheWaitAndThenIsStored) {
  expect_table(bursty({1, kSecond, 2 * kSecond}),
               {
                   {0, -1, {true, 2, 1, 0, kSecond, true}},
                   {0, 4, {true, 2, 0, 0, 5 * kSecond, true}},
                   {0, -1, {true, 2, 0, 0, 4 * kSecond, true}},
                   {kSecond, -2, {true, 2, 1, 0, kSecond, true}},
                   {kSecond, -kCostMax, {true, 2, 2, 0, 0, true}},
                   {kSecond, -1, {true, 2, 2, 0, 0, false}},
               });
}

TEST(Bursty, WithoutABurstItOnlySpaces) {
  expect_table(bursty({1, kSecond, 0}), {
                                            {9 * kSecond, 1, {true, 1, 0, 0, kSecond, true}},
                                            {10 * kSecond - 1, 1, {false, 1, 0, 1, 1, false}},
                                            {10 * kSecond, 2, {true, 1, 0, 0, 2 * kSecond, true}},
                                        });
}

TEST(Bursty, ForceAndBookingsQueueUp) {
  const Limit limit = bursty({1, kSecond, kSecond});
  State state = fresh_state(limit, kStartNs);
  const Request forced{.now_ns = kStartNs, .cost = 2, .force = true};
  EXPECT_TRUE(decide(limit, state, forced).allowed);
  EXPECT_EQ(decide(limit, state, forced), (Verdict{true, 1, 0, 0, 5 * kSecond, true}));
  const Reserve one{.now_ns = kStartNs, .max_wait_ns = 4 * kSecond};
  EXPECT_EQ(reserve(limit, state, one), (Booking{true, 4 * kSecond, true}));
  EXPECT_EQ(reserve(limit, state, one), (Booking{false, 5 * kSecond, false}));
  refund(limit, state, {.now_ns = kStartNs, .permits = 1});
  EXPECT_EQ(reserve(limit, state, one), (Booking{true, 4 * kSecond, true}));
}

TEST(Bursty, WhatIsStoredIsScaledWithTheRate) {
  const Limit from = bursty({1, kSecond, 10 * kSecond});
  State state = fresh_state(from, kStartNs);
  const int64_t now_ns = kStartNs + 4 * kSecond;  // 4 of 10
  const auto carried = [&](const BurstyShape& to) {
    const State next = carry_over(from, bursty(to), state, CarryOver::kAsIs, now_ns);
    return peek(bursty(to), next, now_ns, 0);
  };
  EXPECT_EQ(carried({2, kSecond, 10 * kSecond}), (Verdict{true, 20, 8, 0, 6 * kSecond, false}));
  EXPECT_EQ(carried({1, kSecond, 5 * kSecond}), (Verdict{true, 5, 2, 0, 3 * kSecond, false}));
  EXPECT_EQ(carried({1, kSecond, 0}), (Verdict{true, 1, 0, 0, 0, false}));
  decide(from, state, {.now_ns = now_ns, .cost = 7});  // owes 3 s: that stays
  EXPECT_EQ(carried({2, kSecond, 10 * kSecond}).reset_after_ns, 13 * kSecond);
  const Limit none = bursty({1, kSecond, 0});
  const State next = carry_over(none, from, fresh_state(none, kStartNs), CarryOver::kAsIs, now_ns);
  EXPECT_EQ(peek(from, next, now_ns, 0).remaining, 0);
}

TEST(Bursty, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(refusal(bursty_spec({1, kSecond, -1})),
            "MAXBURST must be between 0s and 36500d, got '-1ns'");
  EXPECT_EQ(refusal(bursty_spec({1, kSecond, kFillNsMax + 1})),
            "MAXBURST must be between 0s and 36500d, got '3153600000000000001ns'");
  EXPECT_EQ(refusal(bursty_spec({kSecond, kSecond, 1'001 * kSecond})),
            "MAXBURST must be 1000000000000 permits at most, got '1001s'");
  EXPECT_EQ(refusal(bursty_spec({kSecond, kSecond, 1'000 * kSecond})), "");
  EXPECT_EQ(bursty({3, 2 * kSecond, kSecond}).capacity, 1);
  EXPECT_EQ(bursty({4, 2 * kSecond, kSecond}).capacity, 2);
}

TEST(Bursty, ADearRequestIsNever) {
  const Limit limit = bursty({1, kPeriodNsMax, 0});
  State state = fresh_state(limit, kStartNs);
  EXPECT_EQ(decide(limit, state, {.now_ns = kStartNs, .cost = 11}),
            (Verdict{false, 1, 0, kNever, 0, false}));
  EXPECT_EQ(decide(limit, state, {.now_ns = kStartNs, .cost = 10}),
            (Verdict{true, 1, 0, 0, kFillNsMax, true}));
  const Request forced{.now_ns = kStartNs, .force = true};
  EXPECT_EQ(decide(limit, state, forced), (Verdict{false, 1, 0, kNever, kFillNsMax, false}));
}

Limit any_bursty(Rng& rng) {
  for (;;) {
    const auto limit = make_limit(bursty_spec({rng.any_magnitude(1, kPeriodNsMax),
                                               rng.any_magnitude(kPeriodNsMin, kPeriodNsMax),
                                               rng.any_magnitude(0, kFillNsMax)}));
    if (limit) return *limit;
  }
}

constexpr Subject kBursty{.random_limit = any_bursty};

TEST(BurstyLaws, RetryIsAPromise) { debt_retry_is_a_promise(kBursty); }
TEST(BurstyLaws, ResetIsAPromise) { debt_reset_is_a_promise(kBursty); }
TEST(BurstyLaws, DeniedOrFreeChangesNothing) { debt_denied_or_free_changes_nothing(kBursty); }
TEST(BurstyLaws, AClockSetBackGivesNothing) { a_clock_set_back_gives_nothing(kBursty); }
TEST(BurstyLaws, RefundsAreClampedAtFull) { debt_refunds_are_clamped(kBursty); }
TEST(BurstyLaws, WorksAtEveryInstant) { debt_works_at_every_instant(kBursty); }
TEST(BurstyLaws, RestartIsInvisible) { restart_is_invisible(kBursty); }
TEST(BurstyLaws, BookingsWaitForNextFree) { debt_bookings_wait(kBursty); }

// In the long run: what was let in before now was paid for, with MAXBURST as the only gift, to a
// nanosecond a request.
TEST(BurstyLaws, TheRateHolds) {
  Seeded seeded;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const Limit limit =
        bursty({seeded.rng.between(1, 1'000), seeded.rng.any_magnitude(kPeriodNsMin, kNsPerDay),
                seeded.rng.any_magnitude(0, 1'000 * kSecond)});
    State state = fresh_state(limit, kStartNs);
    int64_t now_ns = kStartNs;
    int128 taken = 0, requests = 0;
    for (int step = 0; step < 200; ++step) {
      const Verdict ahead = peek(limit, state, now_ns, 1);
      now_ns += ahead.retry_after_ns +
                (seeded.rng.one_in(3) ? seeded.rng.any_magnitude(0, limit.options[0]) : 0);
      // Paid for by now: all that was taken before this request.
      const int128 earned = (int128{now_ns - kStartNs} + limit.options[0]) * limit.rate_count;
      ASSERT_TRUE(taken * limit.rate_period_ns <= earned);
      const int64_t cost = seeded.rng.between(1, 5);
      ASSERT_TRUE(decide(limit, state, {.now_ns = now_ns, .cost = cost}).allowed);
      taken += cost;
      ++requests;
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
