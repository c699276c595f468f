// Metrics as OTLP sends them (ExportMetricsServiceRequest). They are the families of /metrics
// (report/collected_metrics.h) under the names of Prometheus' text format, "_total" too: who has
// both sees one metric.
//
// A counter is a Sum and a histogram a Histogram, both cumulative from the server's start, so that
// a request that is lost loses nothing. CONFIG RESETSTAT makes them fall, as it does in /metrics.
//
// What is given up: OTLP counts a duration that equals a bound below it, and so does Prometheus'
// text; weir counts it above.
#pragma once

#include <cstdint>
#include <string>

#include "server/otlp/resource.h"
#include "server/report/collected_metrics.h"

namespace weir::server::otlp {

// Both since the Unix epoch.
struct Period {
  int64_t begin_ns = 0;  // from when on is counted
  int64_t now_ns = 0;
};

std::string metrics_message(const CollectedMetrics& metrics, const Attributes& resource,
                            const Period& period);

}  // namespace weir::server::otlp
