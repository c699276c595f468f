// Metrics as Prometheus reads them: each family (report/collected_metrics.h) with its help, type
// and unit. A counter's samples, and in the older format its family too, end in "_total".
//
// Invariants
// 1. The text holds each metric once, with all its samples after its head, as both formats demand.
// 2. The text is printable ASCII, as the families are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/report/collected_metrics.h"

namespace weir::server {

enum class MetricsFormat : uint8_t {
  kPrometheus,   // text format 0.0.4, which everything that scrapes reads
  kOpenMetrics,  // OpenMetrics 1.0.0
};

// What an answer in the format has as its Content-Type.
std::string_view content_type(MetricsFormat format);

std::string text_of(const CollectedMetrics& metrics, MetricsFormat format);

}  // namespace weir::server
