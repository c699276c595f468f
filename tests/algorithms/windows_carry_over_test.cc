// Limits that keep what is used, changed in the middle of random lives.
#include "tests/algorithms/laws.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

// What was denied is allowed after the wait it was told, and not a nanosecond earlier.
void expect_promises(const Life& life) {
  const Verdict now = life.ask(0);
  ASSERT_TRUE(now.remaining == 0 || life.ask(now.remaining).allowed);
  ASSERT_EQ(life.ask(0, now.reset_after_ns).remaining, life.limit.capacity);
  const int64_t cost = life.rng.between(1, life.limit.capacity);
  const Verdict verdict = life.ask(cost);
  if (verdict.allowed) return;
  ASSERT_NE(verdict.retry_after_ns, kNever);
  ASSERT_TRUE(life.ask(cost, verdict.retry_after_ns).allowed);
  ASSERT_EQ(life.ask(cost, verdict.retry_after_ns - 1).retry_after_ns, 1);
}

using RandomLimit = Limit (*)(Rng&);

void change_in_mid_life(RandomLimit random_limit, bool counts_exactly) {
  for_random_lives({.random_limit = random_limit}, [&](Life& life) {
    const Limit from = life.limit;
    const int64_t used = from.count - life.ask(0).remaining;
    const std::string before = life.entries.text();
    life.limit = random_limit(life.rng);
    life.state = weir::algorithms::carry_over(
        from, life.limit, life.state,
        life.rng.one_in(2) ? CarryOver::kAsIs : CarryOver::kProportional, life.now_ns,
        &life.entries);
    ASSERT_EQ(life.entries.text(), before);
    // Grants that stay apart are each as old as they are, and a shorter period has some behind it.
    const bool stay_apart =
        from.algorithm == &algorithm_sliding_log ||
        (from.algorithm == &algorithm_sliding_window &&
         from.period_ns / from.options[0] == life.limit.period_ns / life.limit.options[0]);
    const bool older_grants_return = stay_apart && life.limit.period_ns < from.period_ns;
    if (counts_exactly && !older_grants_return) {
      ASSERT_EQ(life.ask(0).remaining, std::max<int64_t>(0, life.limit.count - used));
    }
    expect_promises(life);
    for (int step = 0; step < 6 && !::testing::Test::HasFailure(); ++step) {
      life.live(1);
      ASSERT_EQ(life.last.remaining, life.ask(0).remaining);
      ASSERT_EQ(life.last.reset_after_ns, life.ask(0).reset_after_ns);
      expect_promises(life);
    }
    LimitState read;
    ASSERT_TRUE(read_record(life.record(), {&read, 1}, &test_zones()).ok());
    ASSERT_EQ(bytes_of(read.limit, read.state), life.record());
  });
}

TEST(WindowsCarryOver, Fixed) { change_in_mid_life(any_fixed, true); }
TEST(WindowsCarryOver, SlidingLog) { change_in_mid_life(any_sliding_log, true); }
TEST(WindowsCarryOver, SlidingWindow) { change_in_mid_life(uncapped_sliding_window, true); }
TEST(WindowsCarryOver, SlidingWindowCapped) { change_in_mid_life(capped_sliding_window, false); }
TEST(WindowsCarryOver, SlidingCounter) { change_in_mid_life(any_sliding_counter, true); }
TEST(WindowsCarryOver, Concurrency) { change_in_mid_life(any_concurrency, true); }

TEST(WindowsCarryOver, ResetAndAnotherAlgorithmAreAnew) {
  const Limit log = windowed(algorithm_sliding_log, 5, kNsPerS);
  const Limit pool = windowed(algorithm_concurrency, 5, kNsPerS);
  State state;
  MapEntries entries;
  decide(log, state, {.now_ns = kNsPerS, .cost = 3, .entries = &entries});
  const auto carried = [&](const Limit& to, CarryOver mode) {
    return bytes_of(to, weir::algorithms::carry_over(log, to, state, mode, kNsPerS, &entries));
  };
  EXPECT_EQ(carried(log, CarryOver::kReset), bytes_of(log, State{}));
  EXPECT_EQ(carried(pool, CarryOver::kAsIs), bytes_of(pool, State{}));
  EXPECT_NE(carried(log, CarryOver::kAdditive), bytes_of(log, State{}));
}

}  // namespace
}  // namespace weir::algorithms::testing
