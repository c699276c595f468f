// How many of one unit of time another has. Instants and durations are whole numbers of nanoseconds
// unless a name says otherwise.
#pragma once

#include <cstdint>

namespace weir {

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerS = 1'000'000'000;
inline constexpr int64_t kNsPerMinute = 60 * kNsPerS;
inline constexpr int64_t kNsPerHour = 60 * kNsPerMinute;
inline constexpr int64_t kNsPerDay = 24 * kNsPerHour;
inline constexpr int64_t kUsPerMs = 1'000;
inline constexpr int64_t kUsPerS = 1'000'000;
inline constexpr int64_t kMsPerS = 1'000;
inline constexpr int64_t kMsPerMinute = 60 * kMsPerS;
inline constexpr int64_t kSPerMinute = 60;
inline constexpr int64_t kSPerHour = 60 * kSPerMinute;
inline constexpr int64_t kSPerDay = 24 * kSPerHour;

}  // namespace weir
