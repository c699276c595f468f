// The latency monitor's samples as text for people: LATENCY GRAPH and LATENCY DOCTOR.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/report/latency_monitor.h"

namespace weir::server {

// Draws a heading, then a column for each sample with its age below, to be read downwards: "12s",
// "3m".
std::string graph_text(std::string_view name, const LatencyMonitor::Event& event,
                       int64_t now_unix_s);

// Writes the report. `slowlog_slower_than_us` is the slow log's threshold, on which the advice
// depends.
std::string report_text(const LatencyMonitor& monitor, int64_t slowlog_slower_than_us);

}  // namespace weir::server
