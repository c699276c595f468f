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

inline int64_t clamp_instant(int64_t now_ns) {
  return std::clamp<int64_t>(now_ns, 0, kInstantNsMax);
}

}  // namespace weir::algorithms
