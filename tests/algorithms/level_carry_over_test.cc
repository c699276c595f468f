// What is left when a TOKENBUCKET or a LEAKY limit changes, in all four modes.
#include "algorithms/wide.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

struct LevelShape {
  std::string_view algorithm = "TOKENBUCKET";
  int64_t capacity = 1;
  int64_t count = 1;
  int64_t period_ns = kNsPerS;
  int64_t refill = 0;
};

Limit level_limit(const LevelShape& shape) {
  const bool is_leaky = shape.algorithm == "LEAKY";
  return make_limit({.algorithm = find_algorithm(shape.algorithm),
                     .count = shape.count,
                     .period_ns = shape.period_ns,
                     .capacity = shape.capacity,
                     .options = {is_leaky ? 0 : shape.capacity, shape.refill}})
      .value();
}

// The verdict of cost 0 after a limit of capacity 10, 1 per second, with `left` permits was
// changed to `to`.
struct LevelChange {
  LevelShape from = {.capacity = 10};
  int64_t left = 3;
  LevelShape to;
  CarryOver mode = CarryOver::kAsIs;
  int64_t after_ns = 0;

  Verdict verdict() const {
    const Limit before = level_limit(from), after = level_limit(to);
    State state = fresh_state(before, kStartNs);
    decide(before, state, {.now_ns = kStartNs, .cost = before.capacity - left, .force = true});
    const int64_t now_ns = kStartNs + after_ns;
    return peek(after, carry_over(before, after, state, mode, now_ns), now_ns, 0);
  }
};

using Mode = CarryOver;

void expect_modes(std::string_view algorithm, int64_t refill) {
  const auto left = [&](Mode mode, int64_t left, int64_t capacity) {
    return LevelChange{.from = {algorithm, 10, 1, kSecond, refill},
                       .left = left,
                       .to = {algorithm, capacity, 1, 2 * kSecond, refill},
                       .mode = mode}
        .verdict();
  };
  EXPECT_EQ(left(Mode::kReset, 3, 20).remaining, 20);
  EXPECT_EQ(left(Mode::kReset, 3, 5).reset_after_ns, 0);
  EXPECT_EQ(left(Mode::kAsIs, 3, 20).remaining, 3);
  EXPECT_EQ(left(Mode::kAsIs, 3, 20).reset_after_ns, 34 * kSecond);
  EXPECT_EQ(left(Mode::kAsIs, 3, 5).remaining, 3);
  EXPECT_EQ(left(Mode::kAsIs, 3, 5).reset_after_ns, 4 * kSecond);
  EXPECT_EQ(left(Mode::kAsIs, 7, 5).remaining, 5);
  EXPECT_EQ(left(Mode::kProportional, 3, 20).remaining, 6);
  EXPECT_EQ(left(Mode::kProportional, 3, 5).remaining, 1);
  EXPECT_EQ(left(Mode::kProportional, 10, 20).remaining, 20);
  EXPECT_EQ(left(Mode::kAdditive, 3, 20).remaining, 13);
  EXPECT_EQ(left(Mode::kAdditive, 3, 5).remaining, 3);
  EXPECT_EQ(left(Mode::kAdditive, 7, 5).remaining, 5);
  // Debt of two permits.
  EXPECT_EQ(left(Mode::kAsIs, -2, 20).reset_after_ns, 44 * kSecond);
  EXPECT_EQ(left(Mode::kAsIs, -2, 5).reset_after_ns, 14 * kSecond);
  EXPECT_EQ(left(Mode::kProportional, -2, 20).reset_after_ns, 48 * kSecond);
  EXPECT_EQ(left(Mode::kAdditive, -2, 20).reset_after_ns, 24 * kSecond);
}

TEST(LevelCarryOver, TokenBucketGreedy) { expect_modes("TOKENBUCKET", 0); }
TEST(LevelCarryOver, TokenBucketInterval) { expect_modes("TOKENBUCKET", 1); }
TEST(LevelCarryOver, Leaky) { expect_modes("LEAKY", 0); }

// 3.25 permits are left, 1.625 of 5; what is missing to two takes 0.75 s at 2 s a permit.
TEST(LevelCarryOver, FractionsAreKept) {
  for (const std::string_view algorithm : {"TOKENBUCKET", "LEAKY"}) {
    const LevelChange quarter{.from = {algorithm, 10},
                              .to = {algorithm, 5, 1, 2 * kSecond},
                              .mode = Mode::kProportional,
                              .after_ns = kSecond / 4};
    EXPECT_EQ(quarter.verdict().remaining, 1);
    EXPECT_EQ(quarter.verdict().reset_after_ns, 6'750'000'000);
    LevelChange as_is = quarter;
    as_is.mode = Mode::kAsIs;
    EXPECT_EQ(as_is.verdict().remaining, 3);
    EXPECT_EQ(as_is.verdict().reset_after_ns, 3'500'000'000);
  }
}

TEST(LevelCarryOver, TheOldRateCountsUntilTheChange) {
  LevelChange four_later{.to = {.capacity = 20, .period_ns = 2 * kSecond}, .after_ns = 4 * kSecond};
  EXPECT_EQ(four_later.verdict().remaining, 7);
  four_later.from.refill = four_later.to.refill = 1;
  EXPECT_EQ(four_later.verdict().remaining, 7);
}

// Half of a period has passed, and half of the new one is waited.
TEST(LevelCarryOver, IntervalKeepsTheShareOfItsPeriod) {
  const LevelChange half{.from = {.capacity = 10, .period_ns = 10 * kSecond, .refill = 1},
                         .to = {.capacity = 4, .period_ns = 4 * kSecond, .refill = 1},
                         .after_ns = 25 * kSecond};
  EXPECT_EQ(half.verdict().remaining, 4);  // 3 and two refills are 5, of which 4 stay
  LevelChange grown = half;
  grown.to.capacity = 6;
  EXPECT_EQ(grown.verdict().remaining, 5);
  EXPECT_EQ(grown.verdict().reset_after_ns, 2 * kSecond);
}

TEST(LevelCarryOver, BetweenTheRefills) {
  const LevelChange to_interval{.to = {.capacity = 10, .period_ns = 2 * kSecond, .refill = 1},
                                .after_ns = kSecond / 2};
  EXPECT_EQ(to_interval.verdict().remaining, 3);  // the half is rounded down
  EXPECT_EQ(to_interval.verdict().reset_after_ns, 14 * kSecond);
  const LevelChange to_greedy{.from = {.capacity = 10, .period_ns = 4 * kSecond, .refill = 1},
                              .to = {.capacity = 10, .period_ns = 2 * kSecond},
                              .after_ns = 5 * kSecond};
  EXPECT_EQ(to_greedy.verdict().remaining, 4);
  EXPECT_EQ(to_greedy.verdict().reset_after_ns, 12 * kSecond);
}

TEST(LevelCarryOver, WholePermitsFollowTheDefinitionForAnyPair) {
  for (const std::string_view algorithm : {"TOKENBUCKET", "LEAKY"}) {
    static const Algorithm* drawn;
    drawn = find_algorithm(algorithm);
    const auto any = [](Rng& rng) { return any_limit(*drawn, rng); };
    for_random_lives({.random_limit = any}, [&](Life& life) {
      const Limit to = any(life.rng);
      const int128 left = life.ask(0).remaining, old = life.limit.capacity, now = to.capacity;
      const auto carried = [&](CarryOver mode) {
        const State state = carry_over(life.limit, to, life.state, mode, life.now_ns);
        return int128{peek(to, state, life.now_ns, 0).remaining};
      };
      ASSERT_TRUE(carried(CarryOver::kAsIs) == std::min(left, now));
      ASSERT_TRUE(carried(CarryOver::kAdditive) ==
                  std::min(left, now) + std::max<int128>(0, now - old));
      const int128 scaled = carried(CarryOver::kProportional);
      ASSERT_TRUE(scaled >= left * now / old && scaled * old <= (left + 1) * now);
    });
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
