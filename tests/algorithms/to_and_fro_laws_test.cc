// Going to and fro between two limits, by CarryOver::kUsed, grants nothing that the larger of
// them alone would not have granted in that time, debts included.
#include "algorithms/fixed.h"
#include "algorithms/fixed_grammar.h"
#include "algorithms/gcra.h"
#include "algorithms/wide.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms {
extern const Algorithm algorithm_token_bucket;
extern const Algorithm algorithm_leaky;
extern const Algorithm algorithm_bursty;
}  // namespace weir::algorithms

namespace weir::algorithms::testing {
namespace {

// The larger has the higher rate, at least the capacity, and the same options. Left out: buckets of
// one permit, which may be a nanosecond early (level.h, invariant 2), and TOKENBUCKET with
// INTERVAL, whose refills come at instants that depend on when it was full.
struct Pair {
  Limit small, large;
};

Pair buckets(const Algorithm& algorithm, Rng& rng, std::array<int64_t, 2> options = {}) {
  for (;;) {
    const int64_t period_ns = rng.any_magnitude(kPeriodNsMin, 100 * kNsPerDay);
    const int64_t count = rng.any_magnitude(1, std::min<int64_t>(period_ns, 1'000'000));
    const int64_t capacity = rng.any_magnitude(2, 1'000'000);
    LimitSpec large{.algorithm = &algorithm,
                    .count = count,
                    .period_ns = period_ns,
                    .capacity = capacity,
                    .options = options};
    LimitSpec small = large;
    small.count = rng.any_magnitude(1, count);
    small.capacity = rng.any_magnitude(2, capacity);
    if (rng.one_in(3)) small.period_ns = std::min(kPeriodNsMax, period_ns * rng.between(1, 20));
    const auto first = make_limit(small), second = make_limit(large);
    // A state owes a century at most (instant.h); what FORCE takes comes on top of the capacity.
    const int128 owed_ns = int128{10} * capacity * small.period_ns / small.count;
    if (owed_ns > kFillNsMax) continue;
    if (first.ok() && second.ok()) return {*first, *second};
  }
}

Pair windows(const Algorithm& algorithm, Rng& rng, std::array<int64_t, 2> options = {}) {
  const int64_t period_ns = 10 * rng.any_magnitude(kPeriodNsMin, 10 * kNsPerDay);
  const int64_t count = rng.any_magnitude(1, std::min<int64_t>(period_ns, 1'000));
  return {windowed(algorithm, rng.any_magnitude(1, count), period_ns, options),
          windowed(algorithm, count, period_ns, options)};
}

Pair days(Rng& rng) {
  const int64_t count = rng.any_magnitude(1, 1'000);
  const Calendar calendar = any_calendar(rng);
  return {make_limit(calendar_spec(rng.any_magnitude(1, count), calendar)).value(),
          make_limit(calendar_spec(count, calendar)).value()};
}

// The capacity of BURSTY follows from its rate and its longest burst.
Pair bursts(Rng& rng) {
  for (;;) {
    const int64_t burst_ns = rng.any_magnitude(1, kNsPerDay);
    const Pair rates = buckets(algorithm_bursty, rng, {burst_ns, 0});
    const auto small = make_limit({.algorithm = &algorithm_bursty,
                                   .count = rates.small.count,
                                   .period_ns = rates.small.period_ns,
                                   .options = {rng.any_magnitude(0, burst_ns), 0}});
    if (small.ok() && small->capacity <= rates.large.capacity) return {*small, rates.large};
  }
}

// Full at first, or as low as the other or lower.
Pair tokens(Rng& rng) {
  const bool low = rng.one_in(3);
  for (;;) {
    const Pair pair = buckets(algorithm_gcra, rng);
    const auto spec_of = [&](const Limit& limit, int64_t initial) {
      return LimitSpec{.algorithm = &algorithm_token_bucket,
                       .count = limit.count,
                       .period_ns = limit.period_ns,
                       .capacity = limit.capacity,
                       .options = {initial, 0}};
    };
    const int64_t least = low ? rng.between(0, pair.small.capacity) : pair.small.capacity;
    const int64_t most = low ? rng.between(least, pair.large.capacity) : pair.large.capacity;
    const auto small = make_limit(spec_of(pair.small, least));
    const auto large = make_limit(spec_of(pair.large, most));
    if (small.ok() && large.ok()) return {*small, *large};
  }
}

class ToAndFro {
 public:
  ToAndFro(const Pair& pair, Rng& rng) : pair_(pair), rng_(rng) {
    now_ns_ = rng.any_magnitude(0, kLatestNs / 2);
    state_ = fresh_state(*limit_, now_ns_);
    alone_ = fresh_state(pair_.large, now_ns_);
  }

  void live(int steps) {
    for (; steps > 0; --steps) {
      pass_time();
      if (rng_.one_in(4)) change();
      ASSERT_NO_FATAL_FAILURE(take());
    }
  }
  int64_t granted() const { return granted_; }

 private:
  void pass_time() {
    const int64_t steps_ns[] = {0,
                                1,
                                limit_->period_ns / limit_->count,
                                wait_ns_,
                                rng_.between(0, limit_->period_ns),
                                rng_.any_magnitude(0, 10 * limit_->period_ns)};
    now_ns_ = std::min(kLatestNs, now_ns_ + rng_.pick(steps_ns));
  }

  void change() {
    const Limit& to = limit_ == &pair_.small ? pair_.large : pair_.small;
    state_ = carry_over(*limit_, to, state_, CarryOver::kUsed, now_ns_, &entries_);
    limit_ = &to;
  }

  void take() {
    const int64_t costs[] = {1, 1, left_, left_ + 1, rng_.any_magnitude(1, limit_->capacity)};
    const int64_t cost = std::max<int64_t>(1, rng_.pick(costs));
    const bool force = rng_.one_in(12);
    Request request{.now_ns = now_ns_, .cost = cost, .force = force, .entries = &entries_};
    const Verdict verdict = decide(*limit_, state_, request);
    left_ = verdict.remaining;
    wait_ns_ = verdict.retry_after_ns == kNever ? 0 : verdict.retry_after_ns;
    if (!verdict.allowed) return;
    request.entries = &alone_entries_;
    ASSERT_TRUE(decide(pair_.large, alone_, request).allowed)
        << describe(pair_.small) << " and " << describe(pair_.large) << " cost " << cost;
    granted_ += cost;
  }

  Pair pair_;
  Rng& rng_;
  const Limit* limit_ = &pair_.small;
  int64_t now_ns_;
  State state_, alone_;
  MapEntries entries_, alone_entries_;
  int64_t left_ = 0, wait_ns_ = 0;
  int64_t granted_ = 0;
};

template <class Make>
void holds_for(Make make) {
  Seeded seeded;
  int64_t granted = 0;
  for (int life = 0; life < 2'000 && !::testing::Test::HasFailure(); ++life) {
    ToAndFro limiter(make(seeded.rng), seeded.rng);
    limiter.live(60);
    granted += limiter.granted();
  }
  EXPECT_GT(granted, 10'000);
}

TEST(ToAndFro, Gcra) {
  holds_for([](Rng& rng) { return buckets(algorithm_gcra, rng); });
}
TEST(ToAndFro, Leaky) {
  holds_for([](Rng& rng) { return buckets(algorithm_leaky, rng); });
}
TEST(ToAndFro, TokenBucket) { holds_for(tokens); }
TEST(ToAndFro, Bursty) { holds_for(bursts); }
TEST(ToAndFro, Fixed) {
  holds_for([](Rng& rng) {
    if (rng.one_in(3)) return days(rng);
    return windows(algorithm_fixed, rng, {rng.between(kAlignFirst, kAlignEpoch), 0});
  });
}
TEST(ToAndFro, SlidingLog) {
  holds_for([](Rng& rng) { return windows(algorithm_sliding_log, rng); });
}
TEST(ToAndFro, SlidingWindow) {
  holds_for([](Rng& rng) { return windows(algorithm_sliding_window, rng, {10, 0}); });
}
TEST(ToAndFro, SlidingCounter) {
  holds_for([](Rng& rng) { return windows(algorithm_sliding_counter, rng); });
}

// The example of the docs: what a free plan has used is used of the paid one.
TEST(ToAndFro, AnUpgradeMakesTheDifferenceAvailableADowngradeOwesIt) {
  const auto minute = [](int64_t count) {
    return make_limit({.algorithm = &algorithm_gcra,
                       .count = count,
                       .period_ns = 60 * kNsPerS,
                       .capacity = count})
        .value();
  };
  const Limit free = minute(10), pro = minute(1'000);
  State state = fresh_state(free, kNsPerDay);
  decide(free, state, {.now_ns = kNsPerDay, .cost = 10});
  state = carry_over(free, pro, state, CarryOver::kUsed, kNsPerDay);
  EXPECT_EQ(peek(pro, state, kNsPerDay, 0).remaining, 990);
  decide(pro, state, {.now_ns = kNsPerDay, .cost = 90});
  state = carry_over(pro, free, state, CarryOver::kUsed, kNsPerDay);
  EXPECT_EQ(peek(free, state, kNsPerDay, 1).retry_after_ns, 91 * 6 * kNsPerS);
  state = carry_over(free, pro, state, CarryOver::kUsed, kNsPerDay);
  EXPECT_EQ(peek(pro, state, kNsPerDay, 0).remaining, 900);
}

}  // namespace
}  // namespace weir::algorithms::testing
