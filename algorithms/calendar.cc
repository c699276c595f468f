#include "algorithms/calendar.h"

#include <algorithm>
#include <chrono>

#include "algorithms/limit.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::nanoseconds;
using std::chrono::sys_days;
using std::chrono::year_month;
using LocalTime = std::chrono::sys_time<nanoseconds>;  // local time as if it were UTC

int64_t ns_of(sys_days day) { return nanoseconds(day.time_since_epoch()).count(); }

sys_days day_in(year_month month, int64_t on_day) {
  const std::chrono::day last = (month / std::chrono::last).day();
  return month / std::min(last, std::chrono::day(static_cast<unsigned>(on_day)));
}

Window month_of(sys_days day, int64_t on_day) {
  const std::chrono::year_month_day date(day);
  auto month = date.year() / date.month();
  if (day < day_in(month, on_day)) month -= std::chrono::months(1);
  return {.start_ns = ns_of(day_in(month, on_day)),
          .end_ns = ns_of(day_in(month + std::chrono::months(1), on_day))};
}

// So many months from January on, of which twelve are a whole number.
Window months_of(sys_days day, unsigned months) {
  const std::chrono::year_month_day date(day);
  const unsigned before = (unsigned(date.month()) - 1) / months * months;
  const auto first = date.year() / std::chrono::month(before + 1);
  return {.start_ns = ns_of(day_in(first, 1)),
          .end_ns = ns_of(day_in(first + std::chrono::months(months), 1))};
}

Window week_of(sys_days day) {
  const sys_days monday = day - (std::chrono::weekday(day) - std::chrono::Monday);
  return {.start_ns = ns_of(monday), .end_ns = ns_of(monday + days(7))};
}

template <class Unit>
Window window_of(LocalTime at) {
  const auto start = floor<Unit>(at);
  return {.start_ns = nanoseconds(start.time_since_epoch()).count(),
          .end_ns = nanoseconds((start + Unit(1)).time_since_epoch()).count()};
}

Window local_window(const Calendar& calendar, int64_t local_ns) {
  const LocalTime at{nanoseconds(local_ns)};
  switch (calendar.unit) {
    case CalendarUnit::kMinute:
      return window_of<std::chrono::minutes>(at);
    case CalendarUnit::kHour:
      return window_of<std::chrono::hours>(at);
    case CalendarUnit::kDay:
      return window_of<days>(at);
    case CalendarUnit::kWeek:
      return week_of(floor<days>(at));
    case CalendarUnit::kMonth:
      return month_of(floor<days>(at), calendar.on_day);
    case CalendarUnit::kQuarter:
      return months_of(floor<days>(at), 3);
    case CalendarUnit::kYear:
      return months_of(floor<days>(at), 12);
  }
  WEIR_REQUIRE(false);
}

// Whether windows are local time less the same offset at every instant.
bool is_shift(const Calendar& calendar) {
  return calendar.zone == nullptr || calendar.unit <= CalendarUnit::kHour;
}

int64_t shift_ns(const Calendar& calendar) {
  if (calendar.zone != nullptr) return calendar.zone->standard_s() * kNsPerS;
  return calendar.offset_minutes * kNsPerMinute;
}

Window shifted(const Window& local, int64_t by_ns) {
  return {.start_ns = local.start_ns - by_ns, .end_ns = local.end_ns - by_ns};
}

// REQUIRES: the argument is a whole number of seconds.
int64_t first_ns(const Zone& zone, int64_t local_ns) {
  return zone.first_s(local_ns / kNsPerS) * kNsPerS;
}

// What local time shows now is in the window that runs or, where the clocks were set back over a
// midnight, in the one before.
Window running_local_window(const Calendar& calendar, int64_t at_ns) {
  if (is_shift(calendar)) return local_window(calendar, at_ns + shift_ns(calendar));
  const Zone& zone = *calendar.zone;
  const int64_t at_s = floor<std::chrono::seconds>(nanoseconds(at_ns)).count();
  Window local = local_window(calendar, at_ns + zone.offset_s(at_s) * kNsPerS);
  while (first_ns(zone, local.end_ns) <= at_ns) local = local_window(calendar, local.end_ns);
  return local;
}

DatedWindow dated(const Calendar& calendar, const Window& local) {
  if (calendar.zone == nullptr) {
    const Window window = shifted(local, shift_ns(calendar));
    return {.window = window, .date_ns = window.start_ns};
  }
  if (is_shift(calendar)) return {shifted(local, shift_ns(calendar)), local.start_ns};
  return {.window = {.start_ns = first_ns(*calendar.zone, local.start_ns),
                     .end_ns = first_ns(*calendar.zone, local.end_ns)},
          .date_ns = local.start_ns};
}

}  // namespace

DatedWindow window_at(const Calendar& calendar, int64_t at_ns) {
  return dated(calendar, running_local_window(calendar, at_ns));
}

DatedWindow window_of_date(const Calendar& calendar, int64_t date_ns) {
  if (calendar.zone == nullptr) return window_at(calendar, date_ns);
  return dated(calendar, local_window(calendar, date_ns));
}

int64_t nominal_ns(CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kMinute:
      return kNsPerMinute;
    case CalendarUnit::kHour:
      return kNsPerHour;
    case CalendarUnit::kDay:
      return kNsPerDay;
    case CalendarUnit::kWeek:
      return 7 * kNsPerDay;
    case CalendarUnit::kMonth:
      return 31 * kNsPerDay;
    case CalendarUnit::kQuarter:
      return 92 * kNsPerDay;
    case CalendarUnit::kYear:
      return 366 * kNsPerDay;
  }
  WEIR_REQUIRE(false);
}

}  // namespace weir::algorithms
