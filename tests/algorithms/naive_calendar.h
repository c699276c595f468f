// Calendar windows by counting: years from 1970 on, months from January on. It shares nothing with
// algorithms/calendar.cc but the shape of a window.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/calendar.h"
#include "algorithms/limit.h"

namespace weir::algorithms::testing {

inline bool leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

inline int64_t days_in(int64_t year, int64_t month) {
  if (month == 2) return leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// The first days of all months, counted from 1970-01-01.
inline const std::vector<int64_t>& month_starts() {
  static const std::vector<int64_t> starts = [] {
    std::vector<int64_t> days = {-31, 0};
    for (int64_t year = 1970; year < 2200; ++year) {
      for (int64_t month = 1; month <= 12; ++month) {
        days.push_back(days.back() + days_in(year, month));
      }
    }
    return days;
  }();
  return starts;
}

// In days since 1970-01-01. REQUIRES: day >= -31.
inline Window naive_month(int64_t day) {
  const auto& starts = month_starts();
  const auto next = std::upper_bound(starts.begin(), starts.end(), day);
  return {*(next - 1), *next};
}

inline int64_t floor_to(int64_t value, int64_t step) {
  const int64_t rest = value % step;
  return value - rest - (rest < 0 ? step : 0);
}

inline Window naive_window(CalendarUnit unit, int64_t offset_minutes, int64_t at_ns) {
  const int64_t offset_ns = offset_minutes * 60 * kNsPerS;
  const int64_t local_ns = at_ns + offset_ns;
  if (unit == CalendarUnit::kMonth) {
    const Window month = naive_month(floor_to(local_ns, kNsPerDay) / kNsPerDay);
    return {month.start_ns * kNsPerDay - offset_ns, month.end_ns * kNsPerDay - offset_ns};
  }
  // 1970-01-05 was a Monday.
  const int64_t origin_ns = unit == CalendarUnit::kWeek ? 4 * kNsPerDay : 0;
  const int64_t start_ns = origin_ns + floor_to(local_ns - origin_ns, nominal_ns(unit));
  return {start_ns - offset_ns, start_ns + nominal_ns(unit) - offset_ns};
}

}  // namespace weir::algorithms::testing
