#include "algorithms/calendar.h"

#include <chrono>

#include "algorithms/limit.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::nanoseconds;
using std::chrono::sys_days;
using LocalTime = std::chrono::sys_time<nanoseconds>;  // shifted by the offset, so it is not UTC

int64_t ns_of(sys_days day) { return nanoseconds(day.time_since_epoch()).count(); }

Window month_of(sys_days day) {
  const std::chrono::year_month_day date(day);
  const auto month = date.year() / date.month();
  const sys_days first = month / std::chrono::day(1);
  const sys_days next = (month + std::chrono::months(1)) / std::chrono::day(1);
  return {.start_ns = ns_of(first), .end_ns = ns_of(next)};
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

Window local_window(CalendarUnit unit, LocalTime at) {
  switch (unit) {
    case CalendarUnit::kMinute:
      return window_of<std::chrono::minutes>(at);
    case CalendarUnit::kHour:
      return window_of<std::chrono::hours>(at);
    case CalendarUnit::kDay:
      return window_of<days>(at);
    case CalendarUnit::kWeek:
      return week_of(floor<days>(at));
    case CalendarUnit::kMonth:
      return month_of(floor<days>(at));
  }
  WEIR_REQUIRE(false);
}

}  // namespace

Window calendar_window(const Calendar& calendar, int64_t at_ns) {
  const int64_t offset_ns = calendar.offset_minutes * kNsPerMinute;
  const Window local = local_window(calendar.unit, LocalTime(nanoseconds(at_ns + offset_ns)));
  return {.start_ns = local.start_ns - offset_ns, .end_ns = local.end_ns - offset_ns};
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
  }
  WEIR_REQUIRE(false);
}

}  // namespace weir::algorithms
