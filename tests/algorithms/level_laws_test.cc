// TOKENBUCKET and LEAKY under the laws of the family, and side by side with models that are
// obviously right.
#include "tests/algorithms/bucket_model.h"
#include "tests/algorithms/force_law.h"
#include "tests/algorithms/laws.h"
#include "tests/algorithms/limits.h"

namespace weir::algorithms::testing {
namespace {

struct Rate {
  int64_t capacity;
  int64_t count;
  int64_t period_ns;
};

// The corners of the ranges.
constexpr Rate kLevelCorners[] = {
    {1, 3, kNsPerS},
    {2, 3, kNsPerS},
    {1, 600'000'000, kNsPerS},
    {2, 600'000'000, kNsPerS},
    {1, kNsPerS, kNsPerS},
    {kCapacityMax, kNsPerS, kNsPerS},
    {kCapacityMax, 600'000'000, kNsPerS},
    {kCapacityMax, kPeriodNsMax, kPeriodNsMax},
    {kCapacityMax, kPeriodNsMax - 1, kPeriodNsMax},
    {kCapacityMax, 317'097'919'838, kPeriodNsMax},
    {1, 1, kPeriodNsMax},
    {10, 1, kPeriodNsMax},
    {1, 1'000, kPeriodNsMin},
    {1, 999, kPeriodNsMin},
    {7, 7, kPeriodNsMin},
    {16, 30, 60 * kNsPerS},
    {1'000'000, 1'000'003, 86'399 * kNsPerS},
};

Limit any_rate(std::string_view algorithm, Rng& rng) {
  const Algorithm& found = *find_algorithm(algorithm);
  if (!rng.one_in(3)) return any_limit(found, rng);
  const Rate rate = rng.pick(kLevelCorners);
  return make_limit({.algorithm = &found,
                     .count = rate.count,
                     .period_ns = rate.period_ns,
                     .capacity = rate.capacity})
      .value();
}

Limit any_leaky_rate(Rng& rng) { return any_rate("LEAKY", rng); }

// `refill` and INITIAL of any sort laid over a rate of any sort.
Limit any_bucket(Rng& rng, int64_t refill, bool full_at_first) {
  for (;;) {
    const Limit rate = any_rate("TOKENBUCKET", rng);
    const int64_t initials[] = {0, rate.capacity, rng.any_magnitude(0, rate.capacity)};
    const auto limit =
        make_limit({.algorithm = rate.algorithm,
                    .count = rate.count,
                    .period_ns = rate.period_ns,
                    .capacity = rate.capacity,
                    .options = {full_at_first ? rate.capacity : rng.pick(initials), refill}});
    if (limit) return *limit;
  }
}

Limit any_greedy(Rng& rng) { return any_bucket(rng, 0, false); }
Limit any_token_bucket(Rng& rng) { return any_bucket(rng, rng.between(0, 1), false); }

constexpr Subject kSubjects[] = {{.random_limit = any_leaky_rate},
                                 {.random_limit = any_token_bucket}};

Limit full_greedy(const Rate& rate) {
  return make_limit({.algorithm = find_algorithm("TOKENBUCKET"),
                     .count = rate.count,
                     .period_ns = rate.period_ns,
                     .capacity = rate.capacity,
                     .options = {rate.capacity, 0}})
      .value();
}

TEST(LevelLaws, ExactBoundAtEveryNanosecond) {
  Seeded seeded;
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    const int64_t period_ns = seeded.rng.any_magnitude(kPeriodNsMin, 4 * kPeriodNsMin);
    const Rate rate{seeded.rng.any_magnitude(1, 50), seeded.rng.between(period_ns / 20, period_ns),
                    period_ns};
    const Limit limit =
        round % 2 == 0 ? full_greedy(rate) : leaky(rate.capacity, rate.count, rate.period_ns);
    SCOPED_TRACE(describe(limit));
    greedy_bound_every_nanosecond(limit, seeded.rng, 2'000);
  }
}

TEST(LevelLaws, ExactBoundAtEachStep) {
  Seeded seeded;
  for (int round = 0; round < 1'000 && !HasFailure(); ++round) {
    const Limit limit =
        round % 2 == 0 ? any_bucket(seeded.rng, 0, true) : any_leaky_rate(seeded.rng);
    if (2 * limit.count > limit.period_ns) continue;
    SCOPED_TRACE(describe(limit));
    greedy_bound_at_each_step(limit, seeded.rng.any_magnitude(0, kLatestNs), 100);
  }
}

TEST(LevelLaws, ExactBoundOverYears) {
  Seeded seeded;
  for (const Rate& rate : {Rate{1'000, 3, kNsPerS}, Rate{kCapacityMax, 600'000'000, kNsPerS},
                           Rate{10, 7, 3'600 * kNsPerS}, Rate{kCapacityMax, 999'999'999, kNsPerS},
                           Rate{100, 100'003, 86'399 * kNsPerS}}) {
    greedy_bound_over_years(full_greedy(rate), seeded.rng, 1);
    greedy_bound_over_years(leaky(rate.capacity, rate.count, rate.period_ns), seeded.rng, 1);
  }
  greedy_bound_over_years(full_greedy({3, 1, kPeriodNsMax}), seeded.rng, 36);
}

TEST(LevelLaws, IntervalBound) {
  Seeded seeded;
  for (int round = 0; round < 1'000 && !HasFailure(); ++round) {
    const Limit limit = any_bucket(seeded.rng, 1, true);
    SCOPED_TRACE(describe(limit));
    interval_bound(limit, seeded.rng.any_magnitude(0, kLatestNs), 30);
  }
}

#define FOR_BOTH(law) \
  for (const Subject& subject : kSubjects) law(subject)

TEST(LevelLaws, RetryIsAPromise) { FOR_BOTH(retry_is_a_promise); }
TEST(LevelLaws, ResetAndRemainingArePromises) { FOR_BOTH(reset_and_remaining_are_promises); }
TEST(LevelLaws, DeniedOrFreeChangesNothing) { FOR_BOTH(denied_or_free_changes_nothing); }
TEST(LevelLaws, MoreThanCapacityIsNever) { FOR_BOTH(more_than_capacity_is_never); }
TEST(LevelLaws, AClockSetBackGivesNothing) { FOR_BOTH(a_clock_set_back_gives_nothing); }
TEST(LevelLaws, RefundsAreClampedAtFull) { FOR_BOTH(refunds_are_clamped_at_full); }
TEST(LevelLaws, SplitOrWhole) { FOR_BOTH(split_or_whole); }
TEST(LevelLaws, ForceTakesExactly) { FOR_BOTH(force_takes_exactly); }
TEST(LevelLaws, AllOrNothing) { FOR_BOTH(all_or_nothing); }
TEST(LevelLaws, RestartIsInvisible) { FOR_BOTH(restart_is_invisible); }

TEST(LevelLaws, OverflowIsImpossible) {
  overflow_is_impossible(*find_algorithm("LEAKY"), 10'000);
  overflow_is_impossible(*find_algorithm("TOKENBUCKET"), 10'000);
  Seeded seeded;
  for (int round = 0; round < 5'000 && !HasFailure(); ++round) {
    const Limit limit = any_token_bucket(seeded.rng);
    SCOPED_TRACE(describe(limit));
    works_at_every_instant(limit, seeded.rng);
  }
}

// Every field of every verdict of a random life, debt included, equals the model's.
TEST(LevelLaws, AgreeWithTheNaiveBucket) {
  Seeded seeded;
  for (int round = 0; round < 3'000 && !HasFailure(); ++round) {
    const bool is_leaky = round % 2 == 0;
    Life life(is_leaky ? any_leaky_rate(seeded.rng) : any_greedy(seeded.rng), seeded.rng);
    const int64_t initial = is_leaky ? life.limit.capacity : life.limit.options[0];
    BucketModel model(life.limit, life.now_ns, initial);
    life.last = life.ask(0);
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

// INTERVAL refill, one refill at a time.
class IntervalModel {
 public:
  IntervalModel(const Limit& limit, int64_t now_ns)
      : limit_(limit), level_(limit.options[0]), next_ns_(now_ns + limit.period_ns) {}

  int64_t there_at(int64_t now_ns) {
    for (; level_ < limit_.capacity && next_ns_ <= now_ns; next_ns_ += limit_.period_ns) {
      level_ = std::min(limit_.capacity, level_ + limit_.count);
    }
    return level_;
  }
  bool take(int64_t now_ns, int64_t cost, bool force) {
    if (there_at(now_ns) < cost && !force) return false;
    if (level_ == limit_.capacity && cost > 0) next_ns_ = now_ns + limit_.period_ns;
    level_ -= cost;
    return true;
  }
  void give(int64_t now_ns, int64_t permits) {
    level_ = std::min(limit_.capacity, there_at(now_ns) + permits);
  }

 private:
  Limit limit_;
  int64_t level_;
  int64_t next_ns_;
};

TEST(LevelLaws, IntervalAgreesWithTheNaiveOne) {
  Seeded seeded;
  for (int round = 0; round < 2'000 && !HasFailure(); ++round) {
    const int64_t capacity = seeded.rng.between(1, 40);
    const Limit limit = make_limit({.algorithm = find_algorithm("TOKENBUCKET"),
                                    .count = seeded.rng.between(1, 50),
                                    .period_ns = kPeriodNsMin,
                                    .capacity = capacity,
                                    .options = {seeded.rng.between(0, capacity), 1}})
                            .value();
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(limit));
    int64_t now_ns = seeded.rng.any_magnitude(0, kLatestNs);
    State state = fresh_state(limit, now_ns);
    IntervalModel model(limit, now_ns);
    for (int step = 0; step < 60 && !HasFailure(); ++step) {
      now_ns +=
          seeded.rng.pick(std::array<int64_t, 5>{0, 1, 999, 1'000, seeded.rng.between(0, 30'000)});
      const int64_t cost = seeded.rng.between(0, capacity);
      if (seeded.rng.one_in(6)) {
        refund(limit, state, {.now_ns = now_ns, .permits = cost});
        model.give(now_ns, cost);
      } else {
        const Request request{.now_ns = now_ns, .cost = cost, .force = seeded.rng.one_in(9)};
        const bool allowed = model.take(now_ns, cost, request.force || cost == 0);
        ASSERT_EQ(decide(limit, state, request).allowed, allowed) << "cost " << cost;
      }
      ASSERT_EQ(peek(limit, state, now_ns, 0).remaining,
                std::max<int64_t>(0, model.there_at(now_ns)));
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
