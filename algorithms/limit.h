// A limit: an algorithm, its rate and its options, checked once when it is built.
//
// It must not hold anything that changes while permits are taken; that is State (algorithm.h).
//
// Invariants of every Limit that make_limit() (algorithm.h) returns, which checks each of them:
//  1. 1 <= capacity <= kCapacityMax and kPeriodNsMin <= period_ns <= kPeriodNsMax.
//  2. 1 <= count <= period_ns, so at most one permit comes back per nanosecond.
//  3. capacity * period_ns / count <= kFillNsMax, so every instant up to kInstantNsMax plus a
//     whole fill fits 64 bits.
//  4. rate_count / rate_period_ns is count / period_ns in lowest terms. With ADAPTIVE it is not
//     reduced (adaptive.h).
// Where count / period is no rate (CONCURRENCY: so many at once, each for so long) invariants 2 and
// 3 do not hold, and the derived members are 0.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time_units.h"

namespace weir::algorithms {

struct Algorithm;
class Zone;

inline constexpr int64_t kCapacityMax = 1'000'000'000'000;
inline constexpr int64_t kCostMax = 1'000'000'000'000;
inline constexpr int64_t kPeriodNsMin = 1'000;
inline constexpr int64_t kPeriodNsMax = 3'650 * kNsPerDay;
inline constexpr int64_t kFillYearsMax = 100;  // of 365 days
inline constexpr int64_t kFillNsMax = kFillYearsMax * 365 * kNsPerDay;

// Instants are nanoseconds since the Unix epoch, 0 to kInstantNsMax (the year 2160). Others are
// treated as the nearer end.
inline constexpr int64_t kInstantNsMax = 6'000'000'000 * kNsPerS;

// What a limit is built from. The meaning of `options` belongs to the algorithm (0 when unused). An
// algorithm with Algorithm::derive (BURSTY, WARMUP) computes its capacity itself.
struct LimitSpec {
  const Algorithm* algorithm = nullptr;
  int64_t count = 0;
  int64_t period_ns = 0;
  int64_t capacity = 0;
  std::array<int64_t, 2> options{};
  const Zone* zone = nullptr;  // FIXED's calendar follows it (zone.h); null: none
};

// Bans the key for a while after so many denials within a time (ban.h). It is no part of what two
// limits have to share to limit alike.
struct Ban {
  int64_t for_ns = 0;
  int64_t within_ns = 0;
  int64_t after = 0;  // 0: no ban

  bool is_set() const { return after != 0; }
  friend bool operator==(const Ban&, const Ban&) = default;
};

// Lets reports move the count between two bounds (adaptive.h).
struct Adaptive {
  int64_t min = 0;
  int64_t max = 0;       // 0: not adaptive
  int64_t start = 0;     // the count as given
  int64_t capacity = 0;  // as given; 0: it is the count, and moves with it
  int64_t slow_ns = 0;   // a latency above it is a failure; 0: none is

  bool is_set() const { return max != 0; }
  friend bool operator==(const Adaptive&, const Adaptive&) = default;
};

struct Limit {
  const Algorithm* algorithm = nullptr;
  int64_t count = 0;  // as given, or the present one; `count` permits come back per period
  int64_t period_ns = 0;
  int64_t capacity = 0;
  std::array<int64_t, 2> options{};

  // Derived members, so that a decision needs no division for them. A remainder counts 1/rate_count
  // ns.
  int64_t rate_count = 0;
  int64_t rate_period_ns = 0;
  int64_t interval_ns = 0;  // the time for one permit is interval_ns + interval_rem / rate_count
  int64_t interval_rem = 0;
  int64_t fill_ns = 0;  // the time from empty to full is fill_ns + fill_rem / rate_count
  int64_t fill_rem = 0;
  std::array<double, 5> shape{};  // what Algorithm::derive() keeps here for its own decisions

  const Zone* zone = nullptr;

  Ban ban{};            // not of make_limit(): as it was written
  Adaptive adaptive{};  // likewise
};

// Why a limit was refused, e.g. {"period", "0s", "between 1us and 3650d"}.
struct RangeError {
  std::string argument;
  std::string given;
  std::string accepted;

  // For example "period must be between 1us and 3650d, got '0s'".
  std::string text() const;
};

// Checks, for algorithms whose capacity is their count, that the count is between 1 and `most`.
Result<void, RangeError> check_count(const Limit& limit, int64_t most);

// What is accepted, as a RangeError says it: "between 1 and 1000", "between 1us and 3650d".
std::string between(int64_t least, int64_t most);
std::string between_durations(int64_t least_ns, int64_t most_ns);
// "at most 36500d (100 years)": how long a limit may take to fill.
std::string at_most_longest_fill();

// Writes a duration in the largest unit of ns us ms s m h d that expresses it whole: "90s", "1h",
// "0s".
std::string format_duration(int64_t duration_ns);

}  // namespace weir::algorithms
