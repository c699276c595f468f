// Builds a limit: checks the ranges that algorithm.h and limit.h name, and fills in what is
// derived.
#include <numeric>

#include "algorithms/algorithm.h"
#include "algorithms/wide.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

std::string format_rate(const LimitSpec& spec) {
  return std::to_string(spec.count) + "/" + format_duration(spec.period_ns);
}

Result<void, RangeError> check_ranges(const LimitSpec& spec) {
  if (spec.period_ns < kPeriodNsMin || spec.period_ns > kPeriodNsMax) {
    return RangeError{"period", format_duration(spec.period_ns),
                      between_durations(kPeriodNsMin, kPeriodNsMax)};
  }
  if (spec.count < 1) return RangeError{"count", std::to_string(spec.count), "at least 1"};
  if (spec.count > spec.period_ns) {
    return RangeError{"rate", format_rate(spec),
                      "at most " + std::to_string(kNsPerS) + " per second"};
  }
  if (spec.capacity < 1 || spec.capacity > kCapacityMax) {
    return RangeError{"capacity", std::to_string(spec.capacity), between(1, kCapacityMax)};
  }
  if (int128{spec.capacity} * spec.period_ns > int128{kFillNsMax} * spec.count) {
    return RangeError{"capacity * period / count",
                      std::to_string(spec.capacity) + " permits at " + format_rate(spec),
                      at_most_longest_fill()};
  }
  return {};
}

Limit without_rate(const LimitSpec& spec) {
  return {.algorithm = spec.algorithm,
          .count = spec.count,
          .period_ns = spec.period_ns,
          .capacity = spec.capacity,
          .options = spec.options};
}

// Fills in the derived members but the rate itself.
void derive_times(Limit& limit) {
  limit.interval_ns = limit.rate_period_ns / limit.rate_count;
  limit.interval_rem = limit.rate_period_ns % limit.rate_count;
  limit.fill_ns = limit.interval_ns * limit.capacity;
  if (limit.interval_rem != 0) {  // commands come here, so it is worth avoiding a 128-bit division
    const int128 rems = int128{limit.interval_rem} * limit.capacity;
    limit.fill_ns += static_cast<int64_t>(rems / limit.rate_count);
    limit.fill_rem = static_cast<int64_t>(rems % limit.rate_count);
  }
}

Limit derive(const LimitSpec& spec) {
  const int64_t common = std::gcd(spec.count, spec.period_ns);
  Limit limit{.algorithm = spec.algorithm,
              .count = spec.count,
              .period_ns = spec.period_ns,
              .capacity = spec.capacity,
              .options = spec.options,
              .rate_count = spec.count / common,
              .rate_period_ns = spec.period_ns / common,
              .zone = spec.zone};
  derive_times(limit);
  return limit;
}

}  // namespace

Limit with_whole_rate(const Limit& limit) {
  WEIR_REQUIRE(limit.algorithm->has_rate);
  Limit whole = limit;
  whole.rate_count = limit.count;
  whole.rate_period_ns = limit.period_ns;
  whole.fill_rem = 0;
  derive_times(whole);
  return whole;
}

Result<Limit, RangeError> make_limit(const LimitSpec& spec) {
  WEIR_REQUIRE(spec.algorithm != nullptr);
  const Algorithm& algorithm = *spec.algorithm;
  LimitSpec checked = spec;
  if (algorithm.derive != nullptr) checked.capacity = 1;
  if (algorithm.has_rate) {
    if (const auto fits = check_ranges(checked); !fits) return fits.error();
  }
  Limit limit = algorithm.has_rate ? derive(checked) : without_rate(checked);
  if (algorithm.check != nullptr) {
    if (const auto fits = algorithm.check(limit); !fits) return fits.error();
  }
  if (algorithm.derive != nullptr) algorithm.derive(limit);
  return limit;
}

}  // namespace weir::algorithms
