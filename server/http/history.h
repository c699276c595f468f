// GET /history of metrics-port: the last 24 hours, minute by minute (report/minutes.h), for the
// page.
//
//     {"every_s":60,"names":["allowed",...,"commit"],
//      "rows":[[1764300000,12.5,0,0,0,1.6e-06,1.2e-05,null,null],...]}
//
// A row is the minute's end in Unix time, and a number for each name: rates are a second, durations
// seconds, null where there were none; four digits of each count. `?after=SECONDS` leaves out the
// rows that do not end after it. All rows of a day are at most some 130 KB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/report/minutes.h"

namespace weir::server::http {

inline constexpr std::string_view kHistoryPath = "/history";

std::string history_json(const Minutes& minutes, int64_t after_s);
// The number of `after` in a target's query; 0 where there is none.
int64_t after_of(std::string_view target);

}  // namespace weir::server::http
