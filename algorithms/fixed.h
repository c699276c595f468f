// FIXED: so many permits per window. The head of fixed.cc has the design, fixed_grammar.h what the
// options of its limits are.
#pragma once

#include "algorithms/algorithm.h"
#include "algorithms/calendar.h"

namespace weir::algorithms {

extern const Algorithm algorithm_fixed;

// Builds the limit that FIXED count ALIGN unit means, at an offset or in a zone.
LimitSpec calendar_spec(int64_t count, const Calendar& calendar);
// Tells whether a limit, of any algorithm, has windows that differ in length, so that its period is
// only nominal: months, quarters, years, and in a zone days and weeks.
bool has_windows_of_many_lengths(const Limit& limit);

}  // namespace weir::algorithms
