// The last line of a file of tzdata: the rule by which a zone goes on for ever after its last
// listed change, as POSIX has it for the variable TZ.
//
//     CET-1CEST,M3.5.0,M10.5.0/3      standard time, daylight saving, when it begins and ends
//     <+0545>-5:45                    one offset for ever
//
// Offsets are written west of UTC, and answered east. It must not read files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/zone.h"

namespace weir::server {

struct ZoneRule {
  // When in a year the clocks change, in local time before the change.
  struct Date {
    enum class Kind : uint8_t {
      kWeekday,      // Mm.w.d: the w-th weekday d of month m; w 5 is the last
      kDayNoLeap,    // Jn: day 1 to 365; 29 February is not counted
      kDayFromZero,  // n: day 0 to 365
    };
    Kind kind = Kind::kWeekday;
    int month = 0;
    int week = 0;
    int day = 0;
    int64_t time_s = 2 * 3'600;  // may be negative, or more than a day
  };

  int64_t standard_s = 0;  // east of UTC
  int64_t summer_s = 0;
  bool has_summer = false;
  Date begins;
  Date ends;
};

// Reads a rule; nothing for bytes that are none.
std::optional<ZoneRule> parse_zone_rule(std::string_view text);

// Answers the changes of a rule in the years from `first` to `last`, in order of their instants.
std::vector<algorithms::Zone::Range> changes_by(const ZoneRule& rule, int first, int last);

}  // namespace weir::server
