// What is left when a GCRA limit changes, in all four modes.
#include <gtest/gtest.h>

#include "algorithms/wide.h"
#include "tests/algorithms/limits.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

// A limiter of capacity 10, 1 per second, with `left` permits.
struct Ten {
  Limit limit = gcra(10, 1, kNsPerS);
  State state;

  explicit Ten(int64_t left) : state(fresh_state(limit, kStartNs)) {
    decide(limit, state, {.now_ns = kStartNs, .cost = 10 - left, .force = true});
  }
  Verdict carried(const Limit& to, CarryOver mode, int64_t after_ns = 0) const {
    const int64_t now_ns = kStartNs + after_ns;
    return peek(to, weir::algorithms::carry_over(limit, to, state, mode, now_ns), now_ns, 0);
  }
};

const Limit kGcraTwenty = gcra(20, 1, 2 * kNsPerS);
const Limit kGcraFive = gcra(5, 1, 2 * kNsPerS);

TEST(GcraCarryOver, ResetIsAnew) {
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kReset).remaining, 20);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kReset).reset_after_ns, 0);
}

TEST(GcraCarryOver, AsIsKeepsWhatIsAvailable) {
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kAsIs).remaining, 3);
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kAsIs).reset_after_ns, 34 * kNsPerS);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kAsIs).remaining, 3);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kAsIs).reset_after_ns, 4 * kNsPerS);
  EXPECT_EQ(Ten(7).carried(kGcraFive, CarryOver::kAsIs).remaining, 5);
  EXPECT_EQ(Ten(10).carried(kGcraTwenty, CarryOver::kAsIs).remaining, 10);
}

TEST(GcraCarryOver, ProportionalScales) {
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kProportional).remaining, 6);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kProportional).remaining, 1);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kProportional).reset_after_ns, 7 * kNsPerS);
  EXPECT_EQ(Ten(10).carried(kGcraTwenty, CarryOver::kProportional).remaining, 20);
}

TEST(GcraCarryOver, AdditiveAddsWhatTheCapacityGained) {
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kAdditive).remaining, 13);
  EXPECT_EQ(Ten(3).carried(kGcraFive, CarryOver::kAdditive).remaining, 3);
  EXPECT_EQ(Ten(7).carried(kGcraFive, CarryOver::kAdditive).remaining, 5);
}

TEST(GcraCarryOver, TimeBeforeTheChangeCountsAtTheOldRate) {
  EXPECT_EQ(Ten(3).carried(kGcraTwenty, CarryOver::kAsIs, 4 * kNsPerS).remaining, 7);
}

// 3.25 permits are left; the missing 0.75 takes 1.5 s at the new rate.
TEST(GcraCarryOver, FractionsAreKept) {
  const Ten ten(3);
  const int64_t now_ns = kStartNs + kNsPerS / 4;
  const State state =
      weir::algorithms::carry_over(ten.limit, kGcraTwenty, ten.state, CarryOver::kAsIs, now_ns);
  EXPECT_EQ(peek(kGcraTwenty, state, now_ns, 4).retry_after_ns, 1'500'000'000);
}

TEST(GcraCarryOver, DebtIsKept) {
  EXPECT_EQ(Ten(-2).carried(kGcraTwenty, CarryOver::kAsIs).reset_after_ns, 44 * kNsPerS);
  EXPECT_EQ(Ten(-2).carried(kGcraFive, CarryOver::kAsIs).reset_after_ns, 14 * kNsPerS);
  EXPECT_EQ(Ten(-2).carried(kGcraTwenty, CarryOver::kProportional).reset_after_ns, 48 * kNsPerS);
  EXPECT_EQ(Ten(-2).carried(kGcraTwenty, CarryOver::kAdditive).reset_after_ns, 24 * kNsPerS);
}

TEST(GcraCarryOver, EqualRatesAreTheSameLimit) {
  EXPECT_TRUE(same_limit(gcra(16, 30, 60 * kNsPerS), gcra(16, 1, 2 * kNsPerS)));
  EXPECT_FALSE(same_limit(gcra(16, 30, 60 * kNsPerS), gcra(15, 1, 2 * kNsPerS)));
  EXPECT_FALSE(same_limit(gcra(16, 30, 60 * kNsPerS), gcra(16, 1, 2 * kNsPerS + 1)));
}

// The smallest wait after which `permits` are there. In whole permits the modes are exact; the
// fraction left over may cost one nanosecond of rounding.
TEST(GcraCarryOver, WholePermitsFollowTheDefinitionForAnyPair) {
  for_random_lives({.random_limit = any_gcra}, [](Life& life) {
    const Limit to = any_gcra(life.rng);
    const int128 left = life.ask(0).remaining, old = life.limit.capacity, now = to.capacity;
    const auto carried = [&](CarryOver mode) {
      const State state =
          weir::algorithms::carry_over(life.limit, to, life.state, mode, life.now_ns);
      return int128{peek(to, state, life.now_ns, 0).remaining};
    };
    ASSERT_TRUE(carried(CarryOver::kReset) == now);
    const int128 as_is = carried(CarryOver::kAsIs);
    ASSERT_TRUE(as_is == std::min(left, now));
    const int128 additive = carried(CarryOver::kAdditive);
    ASSERT_TRUE(additive == std::min(left, now) + std::max<int128>(0, now - old));
    // The fraction beside `left` counts too: between left/old and (left + 1)/old of the new one.
    const int128 scaled = carried(CarryOver::kProportional);
    ASSERT_TRUE(scaled >= left * now / old && scaled * old <= (left + 1) * now);
  });
}

TEST(GcraCarryOver, ToTheSameLimitAndBackChangesNothing) {
  for_random_lives({.random_limit = any_gcra}, [](Life& life) {
    for (const CarryOver mode :
         {CarryOver::kAsIs, CarryOver::kProportional, CarryOver::kAdditive}) {
      const State same =
          weir::algorithms::carry_over(life.limit, life.limit, life.state, mode, life.now_ns);
      const int64_t cost = life.any_cost();
      if (life.ask(0).reset_after_ns > 0) {
        ASSERT_EQ(bytes_of(life.limit, same), life.bytes());
      }
      if (life.limit.capacity > 1) {
        ASSERT_EQ(peek(life.limit, same, life.now_ns, cost), life.ask(cost));
      }
    }
  });
}

}  // namespace
}  // namespace weir::algorithms::testing
