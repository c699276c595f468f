// Calendar windows by counting: years from 1968 on, months from January on, in a zone quarters of
// an hour. It shares nothing with algorithms/calendar.cc but the shape of a window.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "algorithms/calendar.h"
#include "algorithms/limit.h"

namespace weir::algorithms::testing {

inline bool leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

inline int64_t days_in(int64_t year, int64_t month) {
  if (month == 2) return leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// The first days of all months from January 1968 on, counted from 1970-01-01.
inline const std::vector<int64_t>& month_starts() {
  static const std::vector<int64_t> starts = [] {
    std::vector<int64_t> days = {-731};
    for (int64_t year = 1968; year < 2200; ++year) {
      for (int64_t month = 1; month <= 12; ++month) {
        days.push_back(days.back() + days_in(year, month));
      }
    }
    return days;
  }();
  return starts;
}

inline int64_t floor_to(int64_t value, int64_t step) {
  const int64_t rest = value % step;
  return value - rest - (rest < 0 ? step : 0);
}

// The dates from which to which a unit lasts, in days since 1970-01-01. REQUIRES: a unit of days;
// day >= -400.
inline Window naive_dates(const Calendar& calendar, int64_t day) {
  if (calendar.unit == CalendarUnit::kDay) return {day, day + 1};
  if (calendar.unit == CalendarUnit::kWeek) {  // 1970-01-05 was a Monday
    const int64_t monday = 4 + floor_to(day - 4, 7);
    return {monday, monday + 7};
  }
  const auto& starts = month_starts();
  auto month = std::upper_bound(starts.begin(), starts.end(), day) - starts.begin() - 1;
  const auto first = [&](auto number) {
    return starts.at(number) +
           std::min(calendar.on_day, starts.at(number + 1) - starts.at(number)) - 1;
  };
  const int months = calendar.unit == CalendarUnit::kYear      ? 12
                     : calendar.unit == CalendarUnit::kQuarter ? 3
                                                               : 1;
  month -= month % months;
  if (first(month) > day) --month;
  return {first(month), first(month + months)};
}

// When the dates of a zone begin, found by walking through all quarters of an hour and looking at
// the local time. REQUIRES: offsets and changes are whole quarters.
class NaiveZone {
 public:
  static constexpr int64_t kFirstDate = -400, kStepS = 900;

  // `offset_s` answers the offset at an instant, in seconds; called with rising instants.
  template <class Offset>
  explicit NaiveZone(const Offset& offset_s, int64_t end_s = 6'060'000'000) {
    for (int64_t at_s = (kFirstDate - 2) * 86'400; at_s < end_s; at_s += kStepS) {
      const int64_t local_s = at_s + offset_s(at_s);
      while (local_s >= (kFirstDate + std::ssize(begins_)) * 86'400) begins_.push_back(at_s);
    }
  }

  int64_t begin_ns(int64_t date) const { return begins_.at(date - kFirstDate) * kNsPerS; }
  // The last date that has begun; one of those that begin together is the last.
  int64_t date_at(int64_t at_ns) const {
    const int64_t at_s = floor_to(at_ns, kNsPerS) / kNsPerS;
    return kFirstDate + (std::upper_bound(begins_.begin(), begins_.end(), at_s) - begins_.begin()) -
           1;
  }

 private:
  std::vector<int64_t> begins_;
};

// `zone` is the calendar's, or null if that has none.
inline Window naive_window(const Calendar& calendar, int64_t at_ns,
                           const NaiveZone* zone = nullptr) {
  const bool elapsed = calendar.unit <= CalendarUnit::kHour;
  if (zone != nullptr && !elapsed) {
    const Window dates = naive_dates(calendar, zone->date_at(at_ns));
    return {zone->begin_ns(dates.start_ns), zone->begin_ns(dates.end_ns)};
  }
  const int64_t offset_ns =
      (zone != nullptr ? calendar.zone->standard_s() : calendar.offset_minutes * 60) * kNsPerS;
  const int64_t local_ns = at_ns + offset_ns;
  if (elapsed) {
    const int64_t start_ns = floor_to(local_ns, nominal_ns(calendar.unit));
    return {start_ns - offset_ns, start_ns + nominal_ns(calendar.unit) - offset_ns};
  }
  const Window dates = naive_dates(calendar, floor_to(local_ns, kNsPerDay) / kNsPerDay);
  return {dates.start_ns * kNsPerDay - offset_ns, dates.end_ns * kNsPerDay - offset_ns};
}

}  // namespace weir::algorithms::testing
