// How many verdicts there were.
#pragma once

#include <cstdint>

namespace weir::server {

// Verdicts since the statistics were reset. What was asked with SHADOW is counted apart.
struct VerdictCounts {
  uint64_t allowed = 0;
  uint64_t denied = 0;
  uint64_t permits = 0;  // taken by those that allowed
  uint64_t shadow_allowed = 0;
  uint64_t shadow_denied = 0;
  uint64_t bans = 0;      // that have begun
  uint64_t repeated = 0;  // requests that were answered as they had been, by their ID
};

}  // namespace weir::server
