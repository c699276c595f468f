// How many of one unit of time another has. Instants and durations are whole numbers of nanoseconds
// unless a name says otherwise.
#pragma once

#include <cstdint>

namespace weir {

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerS = 1'000'000'000;
inline constexpr int64_t kNsPerDay = 86'400 * kNsPerS;
inline constexpr int64_t kUsPerMs = 1'000;
inline constexpr int64_t kMsPerS = 1'000;

}  // namespace weir
