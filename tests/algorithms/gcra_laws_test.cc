// GCRA under the laws of the family, and side by side with a bucket that is obviously right.
#include "algorithms/gcra.h"
#include "tests/algorithms/bucket_model.h"
#include "tests/algorithms/force_law.h"
#include "tests/algorithms/laws.h"
#include "tests/algorithms/limits.h"

namespace weir::algorithms::testing {
namespace {

const Limit kGcraCorners[] = {
    gcra(1, 3, kNsPerS),
    gcra(2, 3, kNsPerS),
    gcra(1, 600'000'000, kNsPerS),
    gcra(2, 600'000'000, kNsPerS),
    gcra(1, kNsPerS, kNsPerS),
    gcra(kCapacityMax, kNsPerS, kNsPerS),
    gcra(kCapacityMax, 600'000'000, kNsPerS),
    gcra(kCapacityMax, kPeriodNsMax, kPeriodNsMax),
    gcra(kCapacityMax, kPeriodNsMax - 1, kPeriodNsMax),
    gcra(kCapacityMax, 317'097'919'838, kPeriodNsMax),
    gcra(1, 1, kPeriodNsMax),
    gcra(10, 1, kPeriodNsMax),
    gcra(1, 1'000, kPeriodNsMin),
    gcra(1, 999, kPeriodNsMin),
    gcra(7, 7, kPeriodNsMin),
    gcra(16, 30, 60 * kNsPerS),
    gcra(5, 1, 10 * kNsPerS),
    gcra(1'000'000, 1'000'003, 86'399 * kNsPerS),
};

Limit random_limit(Rng& rng) {
  if (rng.one_in(3)) return rng.pick(kGcraCorners);
  return any_limit(algorithm_gcra, rng);
}

constexpr Subject kGcra{.random_limit = random_limit};

TEST(GcraLaws, ExactBoundAtEveryNanosecond) {
  Seeded seeded;
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    const int64_t period_ns = seeded.rng.any_magnitude(kPeriodNsMin, 4 * kPeriodNsMin);
    const Limit limit = gcra(seeded.rng.any_magnitude(1, 50),
                             seeded.rng.between(period_ns / 20, period_ns), period_ns);
    SCOPED_TRACE(describe(limit));
    greedy_bound_every_nanosecond(limit, seeded.rng, 2'000);
  }
}

TEST(GcraLaws, ExactBoundAtEachStep) {
  Seeded seeded;
  for (int round = 0; round < 1'000 && !HasFailure(); ++round) {
    const Limit limit = random_limit(seeded.rng);
    if (2 * limit.count > limit.period_ns) continue;
    SCOPED_TRACE(describe(limit));
    greedy_bound_at_each_step(limit, seeded.rng.any_magnitude(0, kLatestNs), 100);
  }
}

TEST(GcraLaws, ExactBoundOverYears) {
  Seeded seeded;
  for (const Limit& limit : {gcra(1'000, 3, kNsPerS), gcra(kCapacityMax, 600'000'000, kNsPerS),
                             gcra(10, 7, 3'600 * kNsPerS), gcra(kCapacityMax, 999'999'999, kNsPerS),
                             gcra(100, 100'003, 86'399 * kNsPerS)}) {
    SCOPED_TRACE(describe(limit));
    greedy_bound_over_years(limit, seeded.rng, 1);
  }
  greedy_bound_over_years(gcra(3, 1, kPeriodNsMax), seeded.rng, 36);
}

TEST(GcraLaws, RetryIsAPromise) { retry_is_a_promise(kGcra); }
TEST(GcraLaws, ResetAndRemainingArePromises) { reset_and_remaining_are_promises(kGcra); }
TEST(GcraLaws, DeniedOrFreeChangesNothing) { denied_or_free_changes_nothing(kGcra); }
TEST(GcraLaws, MoreThanCapacityIsNever) { more_than_capacity_is_never(kGcra); }
TEST(GcraLaws, AClockSetBackGivesNothing) { a_clock_set_back_gives_nothing(kGcra); }
TEST(GcraLaws, RefundsAreClampedAtFull) { refunds_are_clamped_at_full(kGcra); }
TEST(GcraLaws, SplitOrWhole) { split_or_whole(kGcra); }
TEST(GcraLaws, ForceTakesExactly) { force_takes_exactly(kGcra); }
TEST(GcraLaws, AllOrNothing) { all_or_nothing(kGcra); }
TEST(GcraLaws, OverflowIsImpossible) { overflow_is_impossible(algorithm_gcra, 20'000); }
TEST(GcraLaws, RestartIsInvisible) { restart_is_invisible(kGcra); }

// Every field of every verdict of a random life, debt included, equals the model's.
TEST(GcraLaws, AgreesWithTheNaiveBucket) {
  Seeded seeded;
  for (int round = 0; round < 3'000 && !HasFailure(); ++round) {
    Life life(random_limit(seeded.rng), seeded.rng);
    BucketModel model(life.limit, life.now_ns);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
    for (int step = 0; step < 40 && !HasFailure(); ++step) {
      life.pass_time();
      const int64_t cost = life.any_cost();
      if (seeded.rng.one_in(6)) {
        ASSERT_EQ(life.give_back(cost), model.refund({.now_ns = life.now_ns, .permits = cost}));
        continue;
      }
      const Request request{.now_ns = life.now_ns,
                            .cost = cost,
                            .force = life.last.reset_after_ns < kNsPerDay && seeded.rng.one_in(6)};
      life.last = decide(life.limit, life.state, request);
      ASSERT_EQ(life.last, model.decide(request)) << "cost " << cost << " at step " << step;
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
