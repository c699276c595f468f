// How limits of FIXED are written, what their options are and what is checked of them.
//
// Limit::options of a FIXED limit are {align + 100 * day, offset_minutes}; its capacity is its
// count. The day is that of ALIGN MONTH ON day, and 0 for the first. A limit with a zone
// (Limit::zone) has kInZone in the place of the offset.
//
// ALIGN with a calendar unit has no period on the wire: period_ns is then the unit's nominal_ns()
// (calendar.h; 31 days for a month), which make_limit() insists on, so that the ranges and the
// record see an honest number. Decisions use the real length.
#pragma once

#include "algorithms/calendar.h"
#include "algorithms/grammar.h"

namespace weir::algorithms {

// DO NOT CHANGE the numbers. From 2 on the option is a CalendarUnit.
inline constexpr int64_t kAlignFirst = 0;  // a window begins at the first take
inline constexpr int64_t kAlignEpoch = 1;  // windows begin at multiples of the period since 1970

// DO NOT CHANGE these two: they are on disk as well.
inline constexpr int64_t kOnDayUnit = 100;
inline constexpr int64_t kInZone = 1'000'000;  // no offset; the zone's name follows the options

inline constexpr int64_t kOffsetMinutesMax = 23 * 60 + 59;  // east or west

extern const Grammar fixed_grammar;

Result<void, RangeError> check_fixed(const Limit& limit);
// Tells whether options name a zone, which follows them on disk.
bool has_zone(const std::array<int64_t, 2>& options);
// Answers the calendar of a limit that has one. REQUIRES: ALIGN names a unit.
Calendar calendar_of(const Limit& limit);
// Sets all of a spec but its algorithm to what FIXED count ALIGN unit means.
void set_calendar(int64_t count, const Calendar& calendar, LimitSpec& spec);

}  // namespace weir::algorithms
