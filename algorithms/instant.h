// The ends of time that all algorithms share: instants are clamped to what 64 bits carry, and no
// debt reaches further ahead than kAheadNsMax.
//
// It must not know any algorithm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "algorithms/limit.h"

namespace weir::algorithms {

// How far ahead of now a state's debt may reach: 101 years, a little more than any limit's fill.
inline constexpr int64_t kAheadNsMax = 3'200'000'000 * kNsPerS;
static_assert(kAheadNsMax > kFillNsMax + 1);
static_assert(kInstantNsMax < std::numeric_limits<int64_t>::max() - kAheadNsMax - 2);

// Where a new bucket is not full, one that has become full is kept for so long, so that whoever
// comes back meanwhile finds what has gathered; then it is forgotten, and begins as a new one does.
inline constexpr int64_t kFullKeptNs = kNsPerDay;

// Answers the end of a state that fills for so long from an instant on.
inline int64_t kept_when_full(int64_t from_ns, int64_t fills_for_ns) {
  constexpr int64_t kLatestNs = std::numeric_limits<int64_t>::max() - 1;
  return std::min(fills_for_ns, kLatestNs - kFullKeptNs - from_ns) + from_ns + kFullKeptNs;
}

inline int64_t clamp_instant(int64_t now_ns) {
  return std::clamp<int64_t>(now_ns, 0, kInstantNsMax);
}

}  // namespace weir::algorithms
