// Limiters in the middle of their lives, for properties of any algorithm: a limit drawn at random,
// a history drawn at random, and a law to hold then.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include "algorithms/limiter_record.h"
#include "tests/algorithms/map_entries.h"
#include "tests/algorithms/rng.h"

namespace weir::algorithms {

inline std::ostream& operator<<(std::ostream& out, const Verdict& v) {
  return out << "{allowed " << v.allowed << ", limit " << v.limit << ", remaining " << v.remaining
             << ", retry_after_ns " << v.retry_after_ns << ", reset_after_ns " << v.reset_after_ns
             << ", changed " << v.changed << "}";
}

}  // namespace weir::algorithms

namespace weir::algorithms::testing {

struct Subject {
  Limit (*random_limit)(Rng& rng) = nullptr;
  int rounds = 2'000;
  // A permit given back is one permit more; not where it may have been taken in a window that
  // counts in part, or where a second bound is in the way.
  bool refunds_whole = true;
};

inline std::string describe(const Limit& limit) {
  return std::string(limit.algorithm->name) + " " + std::to_string(limit.count) + "/" +
         std::to_string(limit.period_ns) + "ns capacity " + std::to_string(limit.capacity);
}

// Anything within the ranges, every order of magnitude.
inline Limit any_limit(const Algorithm& algorithm, Rng& rng) {
  for (;;) {
    const auto limit = make_limit({.algorithm = &algorithm,
                                   .count = rng.any_magnitude(1, kPeriodNsMax),
                                   .period_ns = rng.any_magnitude(kPeriodNsMin, kPeriodNsMax),
                                   .capacity = rng.any_magnitude(1, kCapacityMax)});
    if (limit) return *limit;
  }
}

inline std::string bytes_of(const Limit& limit, const State& state) {
  std::string record;
  write_record(std::array{LimitState{limit, state}}, record);
  return record;
}

// Whatever starts by then is full again before instants end.
inline constexpr int64_t kLatestNs = kInstantNsMax - kFillNsMax - 1;

// A limiter in the middle of its life: random requests at random, never falling, instants.
class Life {
 public:
  Life(const Limit& limit, Rng& rng)
      : limit(limit), rng(rng), now_ns(rng.any_magnitude(0, kLatestNs)) {
    state = fresh_state(limit, now_ns);
    // A first sight may have to be written, whatever was asked; that is no part of any law here.
    if (!limit.algorithm->uses_entries) decide(limit, state, {.now_ns = now_ns, .cost = 0});
  }

  // Steps that matter: none, one nanosecond, to the boundaries of the last verdict, anything.
  void pass_time() {
    const int64_t retry_ns = last.retry_after_ns == kNever ? 0 : last.retry_after_ns;
    const int64_t steps_ns[] = {0,
                                0,
                                1,
                                retry_ns,
                                retry_ns - 1,
                                last.reset_after_ns,
                                last.reset_after_ns - 1,
                                limit.period_ns / limit.count,
                                rng.between(0, limit.period_ns),
                                rng.any_magnitude(0, kFillNsMax)};
    now_ns = std::min(kLatestNs, now_ns + std::max<int64_t>(0, rng.pick(steps_ns)));
  }

  int64_t any_cost() {
    const int64_t costs[] = {0,
                             1,
                             1,
                             last.remaining,
                             last.remaining + 1,
                             limit.capacity,
                             rng.any_magnitude(0, limit.capacity)};
    return std::min(rng.pick(costs), limit.capacity);
  }

  Verdict take(int64_t cost) { return last = decide(limit, state, request(cost)); }
  Verdict give_back(int64_t permits) {
    return last = refund(limit, state, {.now_ns = now_ns, .permits = permits, .entries = &entries});
  }
  Verdict ask(int64_t cost, int64_t wait_ns = 0) const {
    return peek(limit, state, now_ns + wait_ns, cost, &entries);
  }
  Request request(int64_t cost) {
    return {.now_ns = now_ns, .cost = cost, .entries = &entries, .lease_id = ++lease_id};
  }
  std::string record() const { return bytes_of(limit, state); }
  // All that is on disk.
  std::string bytes() const { return record() + entries.text(); }

  void live(int steps) {
    for (; steps > 0; --steps) {
      pass_time();
      if (rng.one_in(8)) {
        give_back(any_cost());
      } else {
        take(any_cost());
      }
    }
  }

  Limit limit;
  Rng& rng;
  int64_t now_ns;
  State state;
  mutable MapEntries entries;
  int64_t lease_id = 0;
  Verdict last;
};

template <class Law>
void for_random_lives(const Subject& subject, Law law) {
  Seeded seeded;
  for (int round = 0; round < subject.rounds && !::testing::Test::HasFailure(); ++round) {
    Life life(subject.random_limit(seeded.rng), seeded.rng);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
    life.live(static_cast<int>(seeded.rng.between(0, 12)));
    law(life);
  }
}

}  // namespace weir::algorithms::testing
