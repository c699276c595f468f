// Samples of the latency monitor as people read them: LATENCY GRAPH and LATENCY DOCTOR.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/latency/latency_monitor.h"

namespace weir::server {

// A heading, then a column for each sample, its age below it, read downwards: "12s", "3m".
std::string graph_text(std::string_view name, const LatencyMonitor::Event& event,
                       int64_t now_unix_s);

// `slowlog_slower_than_us`: the slow log's threshold, which advice depends on.
std::string report_text(const LatencyMonitor& monitor, int64_t slowlog_slower_than_us);

}  // namespace weir::server
