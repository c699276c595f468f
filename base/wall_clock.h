// How the wall clock stands to instants. Instants never run back, and limits, expiries and waits
// count by them; what people write and read is the wall clock's time, which may jump.
#pragma once

#include <cstdint>
#include <limits>

namespace weir {

struct WallClock {
  // An instant less this is what the wall clock says.
  int64_t lead_ns = 0;
  // The instant of the last WEIR CLOCK RESET, and what the wall clock said then: calendar windows
  // that had been entered by that instant and lay ahead of that time are over.
  int64_t reset_ns = std::numeric_limits<int64_t>::min();
  int64_t reset_at_ns = 0;

  int64_t at(int64_t instant_ns) const { return instant_ns - lead_ns; }
};

// A wall clock that has never differed from instants.
inline constexpr WallClock kTrueWallClock;

}  // namespace weir
