#include "server/http/grpc/units.h"

#include <algorithm>

#include "base/time_units.h"

namespace weir::server::grpc {
namespace {

constexpr int64_t kSPerYear = 365 * kSPerDay;
constexpr UnitWords kUnits[] = {
    {Unit::kSecond, 1, 's', ""},
    {Unit::kMinute, kSPerMinute, 'm', "MINUTE"},
    {Unit::kHour, kSPerHour, 'h', "HOUR"},
    {Unit::kDay, kSPerDay, 'd', "DAY"},
    {Unit::kWeek, 7 * kSPerDay, 'w', "WEEK"},
    {Unit::kMonth, 28 * kSPerDay, 0, "MONTH"},
    {Unit::kYear, kSPerYear, 0, "YEAR"},
};

}  // namespace

std::span<const UnitWords> unit_words() { return kUnits; }

const UnitWords* find_unit(uint64_t number) {
  const auto* const found = std::ranges::find_if(
      kUnits, [number](const UnitWords& row) { return static_cast<uint64_t>(row.unit) == number; });
  return found == std::end(kUnits) ? nullptr : found;
}

void set_window(int64_t window_ms, CurrentLimit* limit) {
  if (window_ms % kMsPerS != 0) return;
  const int64_t seconds = window_ms / kMsPerS;
  if (seconds >= 28 * kSPerDay && seconds <= 31 * kSPerDay) {
    limit->unit = Unit::kMonth;
  } else if (seconds >= kSPerYear && seconds <= kSPerYear + kSPerDay) {
    limit->unit = Unit::kYear;
  } else {
    for (const UnitWords& row : kUnits) {
      const bool is_told = row.period != 0 && row.unit != Unit::kWeek;
      if (!is_told || seconds <= 0 || seconds % row.seconds != 0) continue;
      limit->unit = row.unit;
      limit->multiplier = static_cast<uint32_t>(seconds / row.seconds);
    }
  }
}

}  // namespace weir::server::grpc
