// WARMUP against tables derived by hand, a price computed slice by slice, and the laws that a
// limiter taking on debt has.
#include <cmath>

#include "tests/algorithms/debt_laws.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

constexpr int64_t kMs = kNsPerMs;

struct WarmupShape {
  int64_t count;
  int64_t period_ns;
  int64_t over_ns;
  int64_t cold = 3;
};

LimitSpec warmup_spec(const WarmupShape& shape) {
  return {.algorithm = find_algorithm("WARMUP"),
          .count = shape.count,
          .period_ns = shape.period_ns,
          .options = {shape.over_ns, shape.cold}};
}

Limit warmup(const WarmupShape& shape) { return make_limit(warmup_spec(shape)).value(); }

// The example at the head of warmup.cc: threshold 2, max 4, the line rises by 1 s per permit.
TEST(Warmup, WarmsUpAndCoolsDown) {
  expect_table(warmup({1, kSecond, 4 * kSecond}),
               {
                   {0, 0, {true, 4, 4, 0, 0, false}},
                   {0, 1, {true, 4, 0, 0, 3'500 * kMs, true}},
                   {2'500 * kMs - 1, 1, {false, 4, 0, 1, kSecond + 1, false}},
                   {2'500 * kMs, 1, {true, 4, 0, 0, 3'500 * kMs, true}},
                   {4'000 * kMs, 0, {true, 4, 2, 0, 2'000 * kMs, false}},
                   {4'000 * kMs, 1, {true, 4, 0, 0, 4'000 * kMs, true}},
                   {5'000 * kMs, 1, {true, 4, 0, 0, 5'000 * kMs, true}},
                   {6'000 * kMs, 1, {true, 4, 0, 0, 5'000 * kMs, true}},
                   {7'000 * kMs, 0, {true, 4, 0, 0, 4'000 * kMs, false}},
                   {9'000 * kMs, 0, {true, 4, 2, 0, 2'000 * kMs, false}},
                   {11'000 * kMs - 1, 0, {true, 4, 3, 0, 1, false}},
                   {11'000 * kMs, 0, {true, 4, 4, 0, 0, false}},
                   // Four at once cost 6 s, and a fifth one interval more.
                   {20'000 * kMs, 5, {true, 4, 0, 0, 11'000 * kMs, true}},
                   {26'999 * kMs, 1, {false, 4, 0, 1 * kMs, 4'001 * kMs, false}},
               });
}

// COLD 5: max = 2 + 8 / 6 = 3 1/3, cold again after OVER.
TEST(Warmup, AnotherColdFactor) {
  const Limit limit = warmup({1, kSecond, 4 * kSecond, 5});
  EXPECT_EQ(limit.capacity, 3);
  State state = fresh_state(limit, kStartNs);
  // Down to the threshold OVER = 4 s for 4/3 permits, one interval each for the rest of 3 1/3.
  const Verdict all = decide(limit, state, {.now_ns = kStartNs, .cost = 4});
  EXPECT_EQ(all.reset_after_ns, 10'666'666'667);  // 4 s + 2 s + 2/3 s to pay, 4 s to cool down
  EXPECT_EQ(peek(limit, state, kStartNs, 1).retry_after_ns, 6'666'666'667);
}

TEST(Warmup, ARefundComesOffTheWaitOnly) {
  expect_table(warmup({1, kSecond, 4 * kSecond}),
               {
                   {0, -1, {true, 4, 4, 0, 0, false}},
                   {0, 4, {true, 4, 0, 0, 10'000 * kMs, true}},
                   {kSecond, -2, {true, 4, 0, 0, 7'000 * kMs, true}},
                   {kSecond, 1, {false, 4, 0, 3'000 * kMs, 7'000 * kMs, false}},
                   {kSecond, -9, {true, 4, 0, 0, 4'000 * kMs, true}},
                   {kSecond, -9, {true, 4, 0, 0, 4'000 * kMs, false}},
               });
}

TEST(Warmup, WhatIsStoredIsScaledWithTheRate) {
  const Limit from = warmup({1, kSecond, 4 * kSecond});
  const Limit to = warmup({2, kSecond, 4 * kSecond});
  State state = fresh_state(from, kStartNs);
  decide(from, state, {.now_ns = kStartNs, .cost = 2});  // 2 of 4 are left, 4 s are owed
  state = carry_over(from, to, state, CarryOver::kProportional, kStartNs + kSecond);
  EXPECT_EQ(peek(to, state, kStartNs + kSecond, 1),
            (Verdict{false, 8, 0, 3 * kSecond, 5 * kSecond, false}));
  EXPECT_EQ(peek(to, state, kStartNs + 4 * kSecond, 0).remaining, 4);
  EXPECT_EQ(peek(to, state, kStartNs + 4 * kSecond, 0).reset_after_ns, 2 * kSecond);
}

TEST(Warmup, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(refusal(warmup_spec({1, kSecond, 999})),
            "OVER must be between 1us and 3650d, got '999ns'");
  EXPECT_EQ(refusal(warmup_spec({1, kSecond, kPeriodNsMax + 1})),
            "OVER must be between 1us and 3650d, got '315360000000000001ns'");
  EXPECT_EQ(refusal(warmup_spec({1, kSecond, kSecond, 1})),
            "COLD must be between 2 and 100, got '1'");
  EXPECT_EQ(refusal(warmup_spec({1, kSecond, kSecond, 101})),
            "COLD must be between 2 and 100, got '101'");
  EXPECT_EQ(refusal(warmup_spec({kSecond, kSecond, 1'000 * kSecond, 3})), "");
  EXPECT_EQ(refusal(warmup_spec({kSecond, kSecond, 1'001 * kSecond, 3})),
            "OVER must be 1000000000000 permits at most, got '1001s'");
  EXPECT_EQ(warmup({1, 10 * kSecond, kSecond}).capacity, 1);
}

TEST(Warmup, ADearRequestIsNever) {
  const Limit limit = warmup({1, kPeriodNsMax, kSecond, 10});
  State state = fresh_state(limit, kStartNs);
  EXPECT_EQ(decide(limit, state, {.now_ns = kStartNs, .cost = 2}).retry_after_ns, kNever);
  EXPECT_TRUE(decide(limit, state, {.now_ns = kStartNs, .cost = 1}).allowed);
}

// The area under the line, in a hundred thousand slices.
TEST(Warmup, ThePriceIsTheArea) {
  Seeded seeded;
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    const WarmupShape shape{
        seeded.rng.between(1, 100), seeded.rng.any_magnitude(kMs, 3'600 * kSecond),
        seeded.rng.any_magnitude(kMs, 3'600 * kSecond), seeded.rng.between(2, 20)};
    const Limit limit = warmup(shape);
    SCOPED_TRACE(describe(limit));
    const double stable = double(shape.period_ns) / double(shape.count);
    const double cold = stable * double(shape.cold);
    const double threshold = double(shape.over_ns) / (2 * stable);
    const double max = threshold + 2 * double(shape.over_ns) / (stable + cold);
    const int64_t cost = seeded.rng.between(1, 2 * limit.capacity);
    double price = 0;
    constexpr int kSlices = 100'000;
    for (int i = 0; i < kSlices; ++i) {
      const double stored = max - (i + 0.5) * double(cost) / kSlices;
      const double above = std::max(0.0, stored - threshold) / (max - threshold);
      price += (stable + above * (cold - stable)) * double(cost) / kSlices;
    }
    State state = fresh_state(limit, kStartNs);
    if (!decide(limit, state, {.now_ns = kStartNs, .cost = cost}).allowed) continue;
    const auto paid = double(peek(limit, state, kStartNs, 1).retry_after_ns);
    EXPECT_NEAR(paid, price, 1 + price * 1e-4);
  }
}

Limit any_warmup(Rng& rng) {
  for (;;) {
    const auto limit = make_limit(warmup_spec(
        {rng.any_magnitude(1, kPeriodNsMax), rng.any_magnitude(kPeriodNsMin, kPeriodNsMax),
         rng.any_magnitude(kPeriodNsMin, kPeriodNsMax), rng.any_magnitude(2, 100)}));
    if (limit) return *limit;
  }
}

constexpr Subject kWarmup{.random_limit = any_warmup};

TEST(WarmupLaws, RetryIsAPromise) { debt_retry_is_a_promise(kWarmup); }
TEST(WarmupLaws, ResetIsAPromise) { debt_reset_is_a_promise(kWarmup); }
TEST(WarmupLaws, DeniedOrFreeChangesNothing) { debt_denied_or_free_changes_nothing(kWarmup); }
TEST(WarmupLaws, AClockSetBackGivesNothing) { a_clock_set_back_gives_nothing(kWarmup); }
TEST(WarmupLaws, RefundsAreClamped) { debt_refunds_are_clamped(kWarmup); }
TEST(WarmupLaws, WorksAtEveryInstant) { debt_works_at_every_instant(kWarmup); }
TEST(WarmupLaws, RestartIsInvisible) { restart_is_invisible(kWarmup); }
TEST(WarmupLaws, BookingsWaitForNextFree) { debt_bookings_wait(kWarmup); }

// Offered at every possible instant it never lets in more than the rate does, and the error of a
// warm one is below a nanosecond a request.
TEST(WarmupLaws, TheRateHolds) {
  Seeded seeded;
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    const Limit limit =
        warmup({seeded.rng.between(1, 1'000), seeded.rng.any_magnitude(kMs, 3'600 * kSecond),
                seeded.rng.any_magnitude(kMs, kSecond)});
    SCOPED_TRACE(describe(limit));
    State state = fresh_state(limit, kStartNs);
    int64_t now_ns = kStartNs;
    for (int64_t taken = 0; taken < 1'000; ++taken) {
      ASSERT_GE(int128{now_ns - kStartNs} * limit.rate_count, int128{taken} * limit.rate_period_ns);
      ASSERT_TRUE(decide(limit, state, {.now_ns = now_ns}).allowed);
      now_ns += peek(limit, state, now_ns, 1).retry_after_ns;
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
