#include "algorithms/limit.h"

namespace weir::algorithms {

std::string RangeError::text() const {
  return argument + " must be " + accepted + ", got '" + given + "'";
}

std::string between(int64_t least, int64_t most) {
  return "between " + std::to_string(least) + " and " + std::to_string(most);
}

std::string between_durations(int64_t least_ns, int64_t most_ns) {
  return "between " + format_duration(least_ns) + " and " + format_duration(most_ns);
}

std::string at_most_longest_fill() {
  return "at most " + format_duration(kFillNsMax) + " (" + std::to_string(kFillYearsMax) +
         " years)";
}

std::string format_duration(int64_t duration_ns) {
  struct Unit {
    int64_t ns;
    const char* name;
  };
  static constexpr Unit kUnits[] = {
      {kNsPerDay, "d"}, {kNsPerHour, "h"}, {kNsPerMinute, "m"},
      {kNsPerS, "s"},   {kNsPerMs, "ms"},  {kNsPerUs, "us"},
  };
  if (duration_ns == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration_ns % unit.ns == 0) return std::to_string(duration_ns / unit.ns) + unit.name;
  }
  return std::to_string(duration_ns) + "ns";
}

Result<void, RangeError> check_count(const Limit& limit, int64_t most) {
  if (limit.count >= 1 && limit.count <= most) return {};
  return RangeError{"count", std::to_string(limit.count), between(1, most)};
}

}  // namespace weir::algorithms
