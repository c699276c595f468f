// Calendar windows: the minute, hour, day, ISO week or month an instant lies in, at a fixed offset
// from UTC.
//
// It must not know a time zone: there is no daylight saving, and a day has 86,400 seconds. Years
// are those of the proleptic Gregorian calendar, weeks begin on Monday.
#pragma once

#include <cstdint>

namespace weir::algorithms {

// DO NOT CHANGE the numbers: they are on disk as an option of FIXED.
enum class CalendarUnit : int64_t { kMinute = 2, kHour = 3, kDay = 4, kWeek = 5, kMonth = 6 };

struct Calendar {
  CalendarUnit unit = CalendarUnit::kDay;
  int64_t offset_minutes = 0;  // east of UTC is positive: +08:00 is 480
};

// A window includes start_ns and ends before end_ns. start_ns may lie before 1970.
struct Window {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

// Answers the window that an instant lies in. REQUIRES: at_ns is within some centuries of 1970
// (what limit.h calls an instant is).
Window calendar_window(const Calendar& calendar, int64_t at_ns);

// Answers how long the unit is; for a month, the longest.
int64_t nominal_ns(CalendarUnit unit);

}  // namespace weir::algorithms
