// GCRA, the generic cell rate algorithm, which CL.THROTTLE, THROTTLE, GCRA and RL.TAKE ... GCRA
// share. The head of gcra.cc has the design.
//
// It must not know any dialect's reply or rounding: those belong to the commands.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

extern const Algorithm algorithm_gcra;

// The arguments of CL.THROTTLE: capacity is max_burst + 1, `count` permits come back every
// `period_s` seconds.
struct ThrottleArgs {
  int64_t max_burst = 0;
  int64_t count = 0;
  int64_t period_s = 0;

  friend bool operator==(const ThrottleArgs&, const ThrottleArgs&) = default;
};

// Makes the limit. Errors name max_burst, count or period.
Result<Limit, RangeError> gcra_limit_from_throttle(const ThrottleArgs& args);

// A foreign instant further than this from now is not believed: 10 years of 365 days.
inline constexpr int64_t kForeignTatNsMax = 3'650 * kNsPerDay;

// A theoretical arrival time as redis-cell stores it (ns since the epoch), for which a state is
// made. There is no state if it lies further than kForeignTatNsMax from now.
struct ForeignTat {
  int64_t tat_ns = 0;
  int64_t now_ns = 0;
};
std::optional<State> gcra_state_from_tat(const ForeignTat& foreign);

}  // namespace weir::algorithms
