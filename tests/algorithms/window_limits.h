// Random limits of the windows, the log and the leases: every order of magnitude and the corners.
#pragma once

#include "algorithms/concurrency.h"
#include "algorithms/fixed.h"
#include "algorithms/fixed_grammar.h"
#include "tests/algorithms/life.h"
#include "tests/algorithms/test_zones.h"

namespace weir::algorithms {
extern const Algorithm algorithm_sliding_log;
extern const Algorithm algorithm_sliding_window;
extern const Algorithm algorithm_sliding_counter;
}  // namespace weir::algorithms

namespace weir::algorithms::testing {

// A window of `count` per period; its capacity follows.
inline Limit windowed(const Algorithm& algorithm, int64_t count, int64_t period_ns,
                      std::array<int64_t, 2> options = {}) {
  return make_limit({.algorithm = &algorithm,
                     .count = count,
                     .period_ns = period_ns,
                     .capacity = count,
                     .options = options})
      .value();
}

// Often small, so that limits are reached; a count is at most one per nanosecond.
inline int64_t any_count(Rng& rng, int64_t period_ns, int64_t most) {
  return rng.any_magnitude(1, std::min(period_ns, rng.one_in(2) ? 12 : most));
}

inline int64_t any_period(Rng& rng) {
  const int64_t corners[] = {kPeriodNsMin, kPeriodNsMax, kNsPerS, 86'399 * kNsPerS};
  return rng.one_in(4) ? rng.pick(corners) : rng.any_magnitude(kPeriodNsMin, kPeriodNsMax);
}

inline Limit any_sliding_log(Rng& rng) {
  const int64_t period_ns = any_period(rng);
  return windowed(algorithm_sliding_log, any_count(rng, period_ns, 1'000'000), period_ns);
}

inline Limit any_sliding_counter(Rng& rng) {
  const int64_t period_ns = any_period(rng);
  return windowed(algorithm_sliding_counter, any_count(rng, period_ns, kCapacityMax), period_ns);
}

inline Limit any_sliding_window(Rng& rng, bool capped) {
  const int64_t corners[] = {1, 2, 3, 10, 1'000};
  const int64_t buckets = rng.one_in(2) ? rng.pick(corners) : rng.between(1, 1'000);
  const int64_t width_ns =
      rng.any_magnitude((kPeriodNsMin + buckets - 1) / buckets, kPeriodNsMax / buckets);
  const int64_t count = any_count(rng, width_ns * buckets, kCapacityMax);
  const int64_t least = (count + buckets - 1) / buckets;
  const int64_t per_bucket = rng.any_magnitude(least, std::min(kCapacityMax, 2 * count));
  return windowed(algorithm_sliding_window, count, width_ns * buckets,
                  {buckets, capped ? per_bucket : 0});
}
inline Limit uncapped_sliding_window(Rng& rng) { return any_sliding_window(rng, false); }
inline Limit capped_sliding_window(Rng& rng) { return any_sliding_window(rng, true); }

inline Limit any_fixed(Rng& rng) {
  if (rng.one_in(4)) {
    const int64_t period_ns = any_period(rng);
    return windowed(algorithm_fixed, any_count(rng, period_ns, kCapacityMax), period_ns,
                    {rng.between(kAlignFirst, kAlignEpoch), 0});
  }
  const Calendar calendar = any_calendar(rng);
  const int64_t count = any_count(rng, nominal_ns(calendar.unit), kCapacityMax);
  return make_limit(calendar_spec(count, calendar)).value();
}

inline bool has_calendar(const Limit& limit) {
  return limit.algorithm == &algorithm_fixed && limit.options[0] > kAlignEpoch;
}

inline Limit any_concurrency(Rng& rng) {
  return windowed(algorithm_concurrency, rng.any_magnitude(1, rng.one_in(2) ? 12 : kLeasesMax),
                  any_period(rng));
}

}  // namespace weir::algorithms::testing
