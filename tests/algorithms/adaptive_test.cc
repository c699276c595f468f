// ADAPTIVE: its words, its record, its formula, and the laws of its lives.
#include "algorithms/adaptive.h"

#include <cstdlib>
#include <optional>

#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "base/ascii.h"
#include "tests/algorithms/adaptive_model.h"
#include "tests/algorithms/life.h"

namespace weir::algorithms::testing {
namespace {

std::string error_of(std::string_view text) {
  const auto words = split_at_spaces(text);
  const auto parsed = parse_limits(words);
  return parsed ? "" : parsed.error();
}

Limit limit_of(std::string_view text) {
  const auto words = split_at_spaces(text);
  const auto parsed = parse_limits(words);
  EXPECT_TRUE(parsed.ok()) << text << ": " << error_of(text);
  EXPECT_EQ(parsed->words, words.size()) << text;
  return parsed->limits.at(0);
}

TEST(AdaptiveText, IsReadAndWritten) {
  const Limit limit = limit_of("GCRA 100/1s adaptive 10..500 slow 250ms BAN 1m AFTER 2 WITHIN 1m");
  EXPECT_EQ(limit.adaptive,
            (Adaptive{.min = 10, .max = 500, .start = 100, .slow_ns = 250'000'000}));
  EXPECT_EQ(limit.count, 100);
  EXPECT_TRUE(limit.ban.is_set());
  EXPECT_EQ(format_limit(limit), "GCRA 100/1s ADAPTIVE 10..500 SLOW 250ms");
  EXPECT_EQ(format_limit(at_count(limit, 333)), "GCRA 100/1s ADAPTIVE 10..500 SLOW 250ms")
      << "a limit is called by what was written";
  EXPECT_EQ(format_limit(limit_of("5/1m CAPACITY 7 ADAPTIVE 5..5")),
            "GCRA 5/1m BURST 6 ADAPTIVE 5..5");
  EXPECT_EQ(format_limit(limit_of("TOKENBUCKET 5/1m ADAPTIVE 1..9"), LimitStyle::kWhole),
            "TOKENBUCKET 5/1m CAPACITY 5 INITIAL 5 REFILL GREEDY ADAPTIVE 1..9");
  EXPECT_EQ(format_limit(limit_of("LEAKY 5/1m ADAPTIVE 1..9 CAPACITY 20")),
            "LEAKY 5/1m CAPACITY 20 ADAPTIVE 1..9");
}

TEST(AdaptiveText, OneErrorSaysWhatIsAccepted) {
  const std::string one_word =
      "ADAPTIVE must be min..max in one word, two counts with 1 <= min <= max";
  EXPECT_EQ(error_of("5/1s ADAPTIVE"), "limit 0 (GCRA): " + one_word + ", got 'nothing'");
  for (const char* bad : {"10", "1...9", "..9", "1..", "0..9", "-1..9", "9..1", "a..b", "01..9"}) {
    EXPECT_EQ(error_of("5/1s ADAPTIVE " + std::string(bad)),
              "limit 0 (GCRA): " + one_word + ", got '" + bad + "'");
  }
  const std::string around =
      "limit 0 (GCRA): ADAPTIVE must be min..max with 1 <= min <= 5, the count, and max at least "
      "that, got '";
  EXPECT_EQ(error_of("5/1s ADAPTIVE 6..9"), around + "6..9'");
  EXPECT_EQ(error_of("5/1s ADAPTIVE 1..4"), around + "1..4'");
  EXPECT_EQ(error_of("5/1us ADAPTIVE 1..1001"),
            "limit 0 (GCRA): ADAPTIVE must be two counts that the limit could have (rate at most "
            "1000000000 per second), got '1..1001'");
  EXPECT_EQ(error_of("5/1d CAPACITY 182500 ADAPTIVE 4..9"),
            "limit 0 (GCRA): ADAPTIVE must be two counts that the limit could have (capacity * "
            "period / count at most 36500d (100 years)), got '4..9'");
  EXPECT_EQ(error_of("5/1s ADAPTIVE 1..99999999999999999999 BURST 4").substr(0, 28),
            "limit 0 (GCRA): ADAPTIVE mus");
  EXPECT_EQ(error_of("5/1s ADAPTIVE 1..9 SLOW 0"),
            "limit 0 (GCRA): SLOW must be an integer and a unit (us ms s m h d w), or "
            "milliseconds, above 0 and at most 1d, got '0'");
  EXPECT_EQ(error_of("5/1s ADAPTIVE 1..9 ADAPTIVE 1..9"),
            "limit 0 (GCRA): ADAPTIVE must be given once, got 'ADAPTIVE'");
  EXPECT_EQ(
      error_of("TOKENBUCKET 5/1s ADAPTIVE 1..9 INITIAL 0"),
      "limit 0 (TOKENBUCKET): INITIAL must be left out beside ADAPTIVE, or CAPACITY, got '0'");
  EXPECT_EQ(error_of("TOKENBUCKET 5/1s ADAPTIVE 1..9 REFILL INTERVAL"),
            "limit 0 (TOKENBUCKET): REFILL must be GREEDY beside ADAPTIVE, got 'INTERVAL'");
  const auto words = split_at_spaces("FIXED 5/1s ADAPTIVE 1..9");
  EXPECT_EQ(parse_limits(words)->words, 2u) << "no option of FIXED";
}

TEST(AdaptiveText, TheCapacityFollowsTheCountUnlessItWasGivenOtherwise) {
  EXPECT_EQ(at_count(limit_of("5/1s ADAPTIVE 1..9"), 9).capacity, 9);
  EXPECT_EQ(at_count(limit_of("5/1s CAPACITY 20 ADAPTIVE 1..9"), 9).capacity, 20);
  EXPECT_EQ(at_count(limit_of("TOKENBUCKET 5/1s ADAPTIVE 1..9"), 2).capacity, 2);
  EXPECT_EQ(at_count(limit_of("LEAKY 5/1s CAPACITY 1 ADAPTIVE 1..9"), 2).capacity, 1);
}

TEST(AdaptiveText, LimitsAreTheSameIfTheyWereWrittenAlike) {
  const Limit limit = limit_of("6/6s ADAPTIVE 1..9");
  EXPECT_TRUE(same_limit(limit, at_count(limit, 2)));
  EXPECT_FALSE(same_limit(limit, limit_of("6/6s")));
  EXPECT_FALSE(same_limit(limit, limit_of("1/1s CAPACITY 6 ADAPTIVE 1..9")));
  EXPECT_FALSE(same_limit(limit, limit_of("6/6s ADAPTIVE 1..10")));
  EXPECT_FALSE(same_limit(limit, limit_of("6/6s ADAPTIVE 1..9 SLOW 1s")));
}

LimitState any_state(Rng& rng) {
  LimitState each;
  each.limit = limit_of("LEAKY 60/1m CAPACITY 90 ADAPTIVE 7..80 SLOW 3ms");
  each.limit = at_count(each.limit, rng.between(7, 80));
  each.state = fresh_state(each.limit, 5 * kNsPerDay);
  decide(each.limit, each.state, {.now_ns = 5 * kNsPerDay + rng.between(0, 99), .cost = 33});
  each.adaptive = {.round_ns = rng.between(0, kInstantNsMax),
                   .taken = rng.between(0, 1'000'000),
                   .lowered_ns = rng.between(0, kInstantNsMax),
                   .touched_ns = rng.between(0, kInstantNsMax),
                   .reported_ns = rng.between(0, kInstantNsMax),
                   .latency_ns = rng.between(-1, kLatencyNsMax),
                   .has_failures = rng.one_in(2),
                   .last_failed = rng.one_in(2),
                   .is_shared = rng.one_in(2)};
  return each;
}

TEST(AdaptiveRecord, IsReadAsItWasWritten) {
  Seeded seeded;
  for (int i = 0; i < 2'000; ++i) {
    const LimitState plain{limit_of("FIXED 5/1s"), {}};
    const std::array limits = {any_state(seeded.rng), plain, any_state(seeded.rng)};
    std::string record;
    write_record(limits, record);
    std::array<LimitState, kLimitsMax> read;
    ASSERT_TRUE(read_record(record, read).ok());
    for (size_t at : {0u, 2u}) {
      EXPECT_TRUE(same_limit(read[at].limit, limits[at].limit));
      EXPECT_EQ(read[at].limit.count, limits[at].limit.count);
      EXPECT_EQ(read[at].limit.rate_count, limits[at].limit.rate_count);
      EXPECT_EQ(read[at].adaptive, limits[at].adaptive);
      EXPECT_EQ(std::to_array(read[at].state.words), std::to_array(limits[at].state.words));
    }
    EXPECT_FALSE(read[1].limit.adaptive.is_set());
  }
}

// Whatever is read is a limit within its bounds, and is written as it was read.
TEST(AdaptiveRecord, BentBytesAreRefusedOrMakeSense) {
  Seeded seeded;
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string record;
    write_record(std::array{any_state(seeded.rng)}, record);
    const auto at = static_cast<size_t>(seeded.rng.between(0, int64_t(record.size()) - 1));
    if (seeded.rng.one_in(4)) {
      record.resize(at);
    } else {
      record[at] = static_cast<char>(seeded.rng.between(0, 255));
    }
    LimitState read;
    if (!read_record(record, {&read, 1})) continue;
    ++good;
    if (!read.limit.adaptive.is_set()) continue;
    const Adaptive& rule = read.limit.adaptive;
    ASSERT_TRUE(1 <= rule.min && rule.min <= read.limit.count && read.limit.count <= rule.max);
    ASSERT_TRUE(rule.min <= rule.start && rule.start <= rule.max);
    at_count(read.limit, rule.min);
    at_count(read.limit, rule.max);
    std::string again;
    write_record(std::array{read}, again);
    LimitState twice;
    ASSERT_TRUE(read_record(again, {&twice, 1}).ok());
    ASSERT_EQ(twice.adaptive, read.adaptive);
  }
  EXPECT_GT(good, 1'000);
}

// The example of docs/algorithms.md.
TEST(AdaptiveFormula, AFailureLowersByAFifthARoundRaisesByAStep) {
  Limit limit = limit_of("GCRA 100/1s ADAPTIVE 10..500 SLOW 250ms");
  const int64_t t0 = 5 * kNsPerDay;
  AdaptiveState state{.round_ns = t0};
  const auto tell = [&](int64_t at_ms, bool failed, int64_t latency_ms = -1) {
    const int64_t latency_ns = latency_ms < 0 ? -1 : latency_ms * kNsPerMs;
    const int64_t count =
        count_after(limit, state,
                    {.now_ns = t0 + at_ms * kNsPerMs, .failed = failed, .latency_ns = latency_ns});
    limit = at_count(limit, count);
    return count;
  };
  count_taken(state, 50);
  EXPECT_EQ(tell(999, false), 100) << "the round is not over";
  EXPECT_EQ(tell(1'000, false), 109) << "(500 - 10) / 50 more";
  count_taken(state, 54);
  EXPECT_EQ(tell(2'000, false), 109) << "less than half was taken";
  count_taken(state, 200);
  EXPECT_EQ(tell(2'500, true), 87) << "109 * 4 / 5";
  EXPECT_EQ(tell(3'499, true), 87) << "not twice in a round";
  count_taken(state, 200);
  EXPECT_EQ(tell(3'500, false), 87) << "a round with a failure does not raise";
  count_taken(state, 200);
  EXPECT_EQ(tell(4'500, false, 250), 96);
  EXPECT_EQ(tell(4'500, false, 251), 76) << "slow is failed";
  for (int i = 0; i < 50; ++i) tell(10'000 + i * 1'000, true);
  EXPECT_EQ(limit.count, 10);
  for (int i = 0; i < 100; ++i) {
    count_taken(state, 1'000);
    tell(100'000 + i * 1'000, false);
  }
  EXPECT_EQ(limit.count, 500);
}

// To and fro at one instant, over counts that share few divisors.
TEST(AdaptiveFormula, AChangeRoundsNothing) {
  for (const char* algorithm : {"GCRA", "TOKENBUCKET", "LEAKY"}) {
    Limit limit = limit_of(std::string(algorithm) + " 60/1m CAPACITY 90 ADAPTIVE 7..80");
    State state = fresh_state(limit, 5 * kNsPerDay);
    const int64_t now_ns = 5 * kNsPerDay + 12'345;
    decide(limit, state, {.now_ns = 5 * kNsPerDay, .cost = 33});
    change_count(limit, state, 61, now_ns);
    const State at_61 = state;
    for (const int64_t count : {60, 59, 7, 80, 60, 71, 30, 61}) {
      change_count(limit, state, count, now_ns);
    }
    EXPECT_EQ(std::to_array(state.words), std::to_array(at_61.words)) << algorithm;
    EXPECT_EQ(used_permits(limit, state, now_ns), 33) << algorithm;
  }
}

Limit random_adaptive(Rng& rng) {
  const char* const names[] = {"GCRA", "TOKENBUCKET", "LEAKY"};
  for (;;) {
    LimitSpec spec{.algorithm = find_algorithm(rng.pick(names)),
                   .count = rng.any_magnitude(1, 2'000),
                   .period_ns = rng.any_magnitude(kPeriodNsMin, kNsPerHour)};
    spec.capacity = rng.one_in(2) ? spec.count : rng.any_magnitude(2, 3'000);
    if (spec.algorithm->options_used > 0) spec.options[0] = spec.capacity;
    const auto limit = make_limit(spec);
    if (!limit) continue;
    const auto adaptive =
        make_adaptive(*limit, {.min = rng.between(1, limit->count),
                               .max = limit->count + rng.any_magnitude(0, 5'000),
                               .slow_ns = rng.one_in(2) ? rng.any_magnitude(1, kNsPerS) : 0});
    if (adaptive) return *adaptive;
  }
}

// A limit and its state, which takes all requests that it can.
struct Alone {
  Limit limit;
  State state;
  int64_t granted = 0;

  Alone(const Limit& of, int64_t now_ns) : limit(of), state(fresh_state(of, now_ns)) {}
  bool take(int64_t now_ns, int64_t cost) {
    const bool allowed = decide(limit, state, {.now_ns = now_ns, .cost = cost}).allowed;
    if (allowed) granted += cost;
    return allowed;
  }
};

class AdaptiveLife {
 public:
  AdaptiveLife(Rng& rng, int64_t cost_max)
      : rng_(rng),
        cost_max_(cost_max),
        it_(random_adaptive(rng), rng.any_magnitude(kNsPerDay, kLatestNs / 2)),
        now_ns_(start_of(it_.state)),
        least_(at_count(it_.limit, it_.limit.adaptive.min), now_ns_),
        most_(at_count(it_.limit, it_.limit.adaptive.max), now_ns_),
        replayed_(most_),
        model_{.period_ns = it_.limit.period_ns,
               .min = it_.limit.adaptive.min,
               .max = it_.limit.adaptive.max,
               .count = it_.limit.count,
               .fixed_capacity = it_.limit.adaptive.capacity,
               .slow_ns = it_.limit.adaptive.slow_ns,
               .now_ns = now_ns_} {
    it_.state = fresh_state(it_.limit, now_ns_);
    told_.round_ns = now_ns_;
  }

  void live(int steps) {
    for (; steps > 0 && !::testing::Test::HasFatalFailure(); --steps) {
      pass_time();
      if (rng_.one_in(3)) tell();
      if (cost_max_ > 1 && rng_.one_in(12)) give_back();
      take();
      check();
    }
  }
  int changes() const { return changes_; }
  int64_t granted() const { return it_.granted; }

 private:
  int64_t start_of(const State&) { return rng_.any_magnitude(kNsPerDay, kLatestNs / 2); }

  void pass_time() {
    const int64_t round_ns = std::clamp<int64_t>(it_.limit.period_ns, kRoundNsMin, kRoundNsMax);
    const int64_t steps_ns[] = {0,
                                1,
                                it_.limit.interval_ns,
                                it_.limit.interval_ns / 3,
                                round_ns / 4,
                                round_ns,
                                rng_.any_magnitude(0, 3 * it_.limit.period_ns)};
    now_ns_ += rng_.pick(steps_ns);
    model_.pass_to(now_ns_);
  }

  void tell() {
    const bool failed = rng_.one_in(4);
    const int64_t latency_ns = rng_.one_in(2) ? -1 : rng_.any_magnitude(0, kNsPerS);
    const int64_t count = count_after(
        it_.limit, told_, {.now_ns = now_ns_, .failed = failed, .latency_ns = latency_ns});
    changes_ += count != it_.limit.count;
    change_count(it_.limit, it_.state, count, now_ns_);
    model_.tell(failed, latency_ns);
  }

  void give_back() {
    const int64_t permits = rng_.between(0, cost_max_);
    const int64_t before = used_permits(it_.limit, it_.state, now_ns_);
    refund(it_.limit, it_.state, {.now_ns = now_ns_, .permits = permits});
    count_taken(told_, used_permits(it_.limit, it_.state, now_ns_) - before);
    model_.give_back(permits);
    gives_back_ = true;
  }

  void take() {
    for (int64_t left = rng_.any_magnitude(1, 40); left > 0; --left) {
      const int64_t cost = rng_.between(1, cost_max_);
      const int64_t before = used_permits(it_.limit, it_.state, now_ns_);
      const bool allowed = it_.take(now_ns_, cost);
      count_taken(told_, used_permits(it_.limit, it_.state, now_ns_) - before);
      ASSERT_EQ(allowed, model_.take(cost)) << describe(it_.limit);
      least_.take(now_ns_, cost);
      most_.take(now_ns_, cost);
      if (allowed && !gives_back_) {
        ASSERT_TRUE(replayed_.take(now_ns_, cost)) << "law 1 " << describe(it_.limit);
      }
    }
  }

  void check() {
    const Adaptive& rule = it_.limit.adaptive;
    ASSERT_GE(it_.limit.count, rule.min);
    ASSERT_LE(it_.limit.count, rule.max);
    ASSERT_EQ(it_.limit.count, model_.count) << describe(it_.limit);
    if (cost_max_ > 1 || it_.limit.capacity == 1) return;
    ASSERT_LE(it_.granted, most_.granted) << "law 2 " << describe(it_.limit);
    if (least_.limit.capacity == 1) return;  // a nanosecond early
    ASSERT_GE(it_.granted, least_.granted) << "law 2 " << describe(it_.limit);
  }

  Rng& rng_;
  int64_t cost_max_;
  Alone it_;
  int64_t now_ns_;
  Alone least_, most_;
  Alone replayed_;  // the limit at max, asked for what was granted alone
  AdaptiveModel model_;
  AdaptiveState told_;
  int changes_ = 0;
  bool gives_back_ = false;
};

// WEIR_ADAPTIVE_LIVES=n asks for n lives of 200 steps each.
int lives() {
  const char* given = std::getenv("WEIR_ADAPTIVE_LIVES");
  return given != nullptr ? std::atoi(given) : 500;
}

void live_many(int64_t cost_max) {
  Seeded seeded;
  int64_t changes = 0, granted = 0;
  for (int life = 0; life < lives() && !::testing::Test::HasFailure(); ++life) {
    AdaptiveLife one(seeded.rng, cost_max);
    one.live(200);
    changes += one.changes();
    granted += one.granted();
  }
  EXPECT_GT(changes, lives());
  EXPECT_GT(granted, 100 * lives());
}

TEST(AdaptiveLaws, NeverMoreThanMaxNeverFewerThanMin) { live_many(1); }
TEST(AdaptiveLaws, WhatIsGrantedTheLimitAtMaxWouldGrantAlone) { live_many(7); }

}  // namespace
}  // namespace weir::algorithms::testing
