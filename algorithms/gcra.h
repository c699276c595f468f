// GCRA, the generic cell rate algorithm: what CL.THROTTLE, THROTTLE, GCRA and RL.TAKE ... GCRA
// share. The design is at the head of gcra.cc.
//
// It must not know any dialect's reply or rounding: those live with the commands.
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
};

// Errors name max_burst, count or period.
Result<Limit, RangeError> gcra_limit_from_throttle(const ThrottleArgs& args);

// How far from now a foreign instant may lie to be believed: 10 years of 365 days.
inline constexpr int64_t kForeignTatNsMax = 3'650 * kNsPerDay;

// The state that a theoretical arrival time (ns since the epoch, as redis-cell stores it) stands
// for. Nothing if it lies further than kForeignTatNsMax from now.
struct ForeignTat {
  int64_t tat_ns = 0;
  int64_t now_ns = 0;
};
std::optional<State> gcra_state_from_tat(const ForeignTat& foreign);

// A quantity as CL.THROTTLE has it: takes when positive, reads when 0, gives back when negative.
struct Quantity {
  int64_t now_ns = 0;
  int64_t permits = 1;
};
Verdict gcra_throttle(const Limit& limit, State& state, const Quantity& quantity);

}  // namespace weir::algorithms
