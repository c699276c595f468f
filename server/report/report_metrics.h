// The metrics of a Report, in the groups in which INFO shows them.
#pragma once

#include "server/report/metrics.h"
#include "server/report/report.h"

namespace weir::server {

// Connections and commands, with their rates.
void write_traffic_metrics(const Report& report, MetricWriter& out);
void write_look_up_metrics(const Report& report, MetricWriter& out);
void write_socket_metrics(const Report& report, MetricWriter& out);
void write_turn_metrics(const Report& report, MetricWriter& out);
void write_loop_metrics(const Report& report, MetricWriter& out);
// How the export over OTLP fares.
void write_export_metrics(const Report& report, MetricWriter& out);
// A row for each word with which errors began.
void write_error_metrics(const Report& report, MetricWriter& out);

}  // namespace weir::server
