// Durations as tests of a shard write them, in nanoseconds.
#pragma once

#include <cstdint>

#include "base/time_units.h"

namespace weir::storage::replication {

inline constexpr int64_t kMs = kNsPerMs;
inline constexpr int64_t kSecond = kNsPerS;

}  // namespace weir::storage::replication
