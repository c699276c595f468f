// FIXED, SLIDINGLOG, SLIDINGWINDOW, SLIDINGCOUNTER and CONCURRENCY under the laws of the family,
// and side by side with lists of grants.
#include <map>

#include "tests/algorithms/force_law.h"
#include "tests/algorithms/grant_models.h"
#include "tests/algorithms/laws.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

struct Case {
  const char* name;
  Subject subject;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

// Random lives are dearer here than with a state of a few words.
constexpr int kRounds = 4'000;

constexpr Case kFixed{"Fixed", {.random_limit = any_fixed, .rounds = kRounds}};
constexpr Case kLog{"SlidingLog", {.random_limit = any_sliding_log, .rounds = kRounds}};
constexpr Case kWindow{"SlidingWindow",
                       {.random_limit = uncapped_sliding_window, .rounds = kRounds}};
constexpr Case kCapped{
    "SlidingWindowCapped",
    {.random_limit = capped_sliding_window, .rounds = kRounds, .refunds_whole = false}};
constexpr Case kCounter{
    "SlidingCounter",
    {.random_limit = any_sliding_counter, .rounds = kRounds, .refunds_whole = false}};
constexpr Case kConcurrency{"Concurrency", {.random_limit = any_concurrency, .rounds = kRounds}};

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class WindowLaws : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, WindowLaws,
                         ::testing::Values(kFixed, kLog, kWindow, kCapped, kCounter, kConcurrency),
                         name_of);

// Laws 6 and 7 do not apply to CONCURRENCY.
class RefundLaws : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, RefundLaws,
                         ::testing::Values(kFixed, kLog, kWindow, kCapped, kCounter), name_of);

TEST_P(WindowLaws, RetryIsAPromise) { retry_is_a_promise(GetParam().subject); }
TEST_P(WindowLaws, ResetAndRemainingArePromises) {
  reset_and_remaining_are_promises(GetParam().subject);
}
TEST_P(WindowLaws, DeniedOrFreeChangesNothing) {
  denied_or_free_changes_nothing(GetParam().subject);
}
TEST_P(WindowLaws, MoreThanCapacityIsNever) { more_than_capacity_is_never(GetParam().subject); }
TEST_P(WindowLaws, AClockSetBackGivesNothing) {
  a_clock_set_back_gives_nothing(GetParam().subject);
}
TEST_P(RefundLaws, RefundsAreClampedAtFull) { refunds_are_clamped_at_full(GetParam().subject); }
TEST_P(RefundLaws, SplitOrWhole) { split_or_whole(GetParam().subject); }
TEST_P(WindowLaws, ForceTakesExactly) { force_takes_exactly(GetParam().subject); }
TEST_P(WindowLaws, AllOrNothing) { all_or_nothing(GetParam().subject); }
TEST_P(WindowLaws, RestartIsInvisible) { restart_is_invisible(GetParam().subject); }

TEST_P(WindowLaws, WorksAtEveryInstant) {
  Seeded seeded;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const Limit limit = GetParam().subject.random_limit(seeded.rng);
    SCOPED_TRACE(describe(limit));
    works_at_every_instant(limit, seeded.rng);
  }
}

// Every field of every verdict of a random life equals the model's.
TEST_P(WindowLaws, AgreesWithTheListOfGrants) {
  Seeded seeded;
  const bool refunds = GetParam().subject.random_limit != any_concurrency;
  for (int round = 0; round < kRounds / 4 && !HasFailure(); ++round) {
    Life life(GetParam().subject.random_limit(seeded.rng), seeded.rng);
    const auto model = model_of(life.limit);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
    for (int step = 0; step < 30 && !HasFailure(); ++step) {
      life.pass_time();
      const int64_t cost = life.any_cost();
      if (refunds && seeded.rng.one_in(6)) {
        ASSERT_EQ(life.give_back(cost), model->refund(cost, life.now_ns)) << "step " << step;
      } else {
        Request request = life.request(cost);
        request.force = life.limit.capacity < 10'000 && seeded.rng.one_in(8);
        if (request.force) request.cost *= seeded.rng.between(1, 3);
        life.last = decide(life.limit, life.state, request);
        ASSERT_EQ(life.last, model->decide(request.cost, life.now_ns, request.force))
            << "cost " << request.cost << " at step " << step;
      }
      ASSERT_EQ(owed(life.limit, life.state, {.now_ns = life.now_ns, .entries = &life.entries}),
                model->owed(life.now_ns));
    }
  }
}

// Law 1, by its own arithmetic: no (t - period, t] holds more than `most`.
void expect_at_most(const std::vector<Grant>& grants, int64_t period_ns, int128 most) {
  int128 sum = 0;
  size_t oldest = 0;
  for (const Grant& grant : grants) {
    sum += grant.permits;
    while (grant.at_ns - grants[oldest].at_ns >= period_ns) sum -= grants[oldest++].permits;
    ASSERT_TRUE(sum <= most) << int64_t(sum) << " at " << grant.at_ns;
  }
}

// All that can be had, at instants near the boundaries and anywhere.
std::vector<Grant> greedy_run(Life& life, int steps) {
  std::vector<Grant> grants;
  for (; steps > 0; --steps) {
    life.pass_time();
    const Verdict now = life.ask(0);
    const int64_t cost = life.rng.one_in(2) ? now.remaining : std::min<int64_t>(1, now.remaining);
    if (cost == 0 || !life.take(cost).allowed) {
      life.take(1);
      continue;
    }
    grants.push_back({life.now_ns, cost});
  }
  return grants;
}

TEST_P(WindowLaws, BoundInEveryPeriod) {
  Seeded seeded;
  for (int round = 0; round < kRounds / 4 && !HasFailure(); ++round) {
    Life life(GetParam().subject.random_limit(seeded.rng), seeded.rng);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
    const std::string_view name = life.limit.algorithm->name;
    const bool doubles = name == "FIXED" || name == "SLIDINGCOUNTER";
    const int128 most = doubles ? 2 * int128{life.limit.count} - (name == "SLIDINGCOUNTER")
                                : int128{life.limit.count};
    const int64_t period_ns =
        has_calendar(life.limit) ? shortest_ns(calendar_of(life.limit)) : life.limit.period_ns;
    expect_at_most(greedy_run(life, 60), period_ns, most);
  }
}

// Entries that could not be read look absent: what comes out is thrown away, but it comes out.
TEST_P(WindowLaws, MissingEntriesAreSurvived) {
  Seeded seeded;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    Life life(GetParam().subject.random_limit(seeded.rng), seeded.rng);
    life.live(12);
    for (size_t rank = life.entries.size(); rank-- > 0;) {
      if (seeded.rng.one_in(2)) life.entries.erase(life.entries.entry(rank).id);
    }
    for (int step = 0; step < 12; ++step) {
      life.live(1);
      ASSERT_TRUE(life.last.remaining >= 0 && life.last.remaining <= life.limit.capacity);
      ASSERT_GE(life.last.reset_after_ns, 0);
      ASSERT_GE(life.last.retry_after_ns, 0);
    }
  }
}

// Law 9: any 64-bit numbers are refused with a reason, or make a limit.
TEST(WindowRanges, AnyNumbersAreRefusedOrWork) {
  Seeded seeded;
  const Algorithm* algorithms[] = {&algorithm_fixed, &algorithm_sliding_log,
                                   &algorithm_sliding_window, &algorithm_sliding_counter,
                                   &algorithm_concurrency};
  const int64_t ends[] = {std::numeric_limits<int64_t>::min(),
                          -1,
                          0,
                          1,
                          2,
                          3,
                          4,
                          5,
                          6,
                          7,
                          1'440,
                          kLeasesMax,
                          kLeasesMax + 1,
                          kCapacityMax,
                          kCapacityMax + 1,
                          kPeriodNsMin,
                          kPeriodNsMin - 1,
                          kPeriodNsMax,
                          kPeriodNsMax + 1,
                          kNsPerDay,
                          31 * kNsPerDay,
                          std::numeric_limits<int64_t>::max()};
  std::map<std::string_view, int> made;
  for (int round = 0; round < 50'000 && !::testing::Test::HasFailure(); ++round) {
    const auto number = [&] {
      return seeded.rng.one_in(2) ? seeded.rng.pick(ends)
                                  : seeded.rng.any_magnitude(0, kPeriodNsMax);
    };
    const auto limit = make_limit({.algorithm = seeded.rng.pick(algorithms),
                                   .count = number(),
                                   .period_ns = number(),
                                   .capacity = number(),
                                   .options = {number(), number()}});
    if (!limit) {
      ASSERT_NE(limit.error().text().find(" must be "), std::string::npos);
      continue;
    }
    ++made[limit->algorithm->name];
    SCOPED_TRACE(describe(*limit));
    ASSERT_TRUE(limit->count >= 1 && limit->count <= kCapacityMax);
    ASSERT_TRUE(limit->capacity >= 1 && limit->capacity <= limit->count);
    works_at_every_instant(*limit, seeded.rng);
  }
  EXPECT_EQ(made.size(), std::size(algorithms));
}

}  // namespace
}  // namespace weir::algorithms::testing
