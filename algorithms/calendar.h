// Calendar windows: the minute, hour, day, ISO week, month, quarter or year an instant lies in, at
// a fixed offset from UTC or in a time zone.
//
// It must not know tzdata: a zone is a table that it is handed (zone.h). Years are those of the
// proleptic Gregorian calendar, weeks are those of ISO 8601 and begin on Monday, quarters in
// January, April, July and October.
//
// A month may begin on another day than its first. `on_day` 31 is the last day of a shorter month:
//
//     31 January 00:00  |--- 28 days ---|  28 February 00:00  |--- 31 days ---|  31 March 00:00
//
// At an offset a day has 86,400 seconds. In a zone
//   - days and what is longer begin where their date does (zone.h), so a day may have 23 or 25
//     hours, and a date that the zone leaves out has no window;
//   - a minute and an hour count elapsed time, 60 and 3,600 seconds, also where clocks change. They
//     are aligned by the zone's standard offset, so they begin at local :00, but in a summer that
//     is half an hour ahead (Lord Howe).
#pragma once

#include <cstdint>

#include "algorithms/zone.h"

namespace weir::algorithms {

// DO NOT CHANGE the numbers: they are on disk as an option of FIXED.
enum class CalendarUnit : int64_t {
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kWeek = 5,
  kMonth = 6,
  kQuarter = 7,
  kYear = 8,
};

inline constexpr int64_t kOnDayMax = 31;

struct Calendar {
  CalendarUnit unit = CalendarUnit::kDay;
  int64_t offset_minutes = 0;  // east of UTC is positive: +08:00 is 480; 0 with a zone
  int64_t on_day = 1;          // of kMonth: 1 to kOnDayMax
  const Zone* zone = nullptr;
};

// A window includes start_ns and ends before end_ns. start_ns may lie before 1970.
struct Window {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

// A window with its beginning by the calendar, which names it whatever the tables of tomorrow say:
// the zone's local time (standard time for minutes and hours) as if that were UTC; without a zone
// it is start_ns. Of two windows the later one has the larger date.
struct DatedWindow {
  Window window;
  int64_t date_ns = 0;
};

// Answers the window that an instant lies in. REQUIRES: at_ns is within some centuries of 1970
// (what limit.h calls an instant is).
DatedWindow window_at(const Calendar& calendar, int64_t at_ns);
// Answers the window that has a date, or in which that lies if it is none. It is empty where the
// zone leaves the date out.
DatedWindow window_of_date(const Calendar& calendar, int64_t date_ns);

inline Window calendar_window(const Calendar& calendar, int64_t at_ns) {
  return window_at(calendar, at_ns).window;
}

// Answers how long the unit is; for a month, a quarter and a year, the longest without a zone.
int64_t nominal_ns(CalendarUnit unit);

}  // namespace weir::algorithms
