// FIXED: so many permits per window. The head of fixed.cc has the design.
//
// Limit::options of a FIXED limit are {align, offset_minutes}; its capacity is its count. ALIGN
// with a calendar unit has no period on the wire: period_ns is then the unit's nominal_ns()
// (calendar.h; 31 days for a month), which make_limit() insists on, so that the ranges and the
// record see an honest number. Decisions use the real length.
#pragma once

#include "algorithms/algorithm.h"
#include "algorithms/calendar.h"

namespace weir::algorithms {

extern const Algorithm algorithm_fixed;

// DO NOT CHANGE the numbers. From 2 on the option is a CalendarUnit.
inline constexpr int64_t kAlignFirst = 0;  // a window begins at the first take
inline constexpr int64_t kAlignEpoch = 1;  // windows begin at multiples of the period since 1970

inline constexpr int64_t kOffsetMinutesMax = 23 * 60 + 59;  // east or west

// Builds the limit that FIXED count ALIGN unit OFFSET means.
LimitSpec calendar_spec(int64_t count, const Calendar& calendar);

}  // namespace weir::algorithms
