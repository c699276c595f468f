// What the environment says of OTLP, in OpenTelemetry's names (its specification, "OpenTelemetry
// Protocol Exporter" and "Environment Variable Specification"). docs/metrics.md lists the names.
//
// They are variables of the environment, and no options of weir.conf, because whoever runs a
// collector sets them for all programs alike. An empty one is as one that is not set. What cannot
// be obeyed is refused at the start, in words, once an endpoint is named; a value that may be a
// secret is not shown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/otlp/resource.h"
#include "server/peer/http_post.h"

namespace weir::server::otlp {

// Answers a variable's value; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

struct Settings {
  std::optional<HttpTarget> metrics;  // nothing: they are not sent
  std::optional<HttpTarget> spans;
  int64_t metrics_interval_ms = 60'000;
  int64_t spans_interval_ms = 5'000;
  Attributes resource = {};  // service.name is in it

  bool exports() const { return metrics || spans; }
};

// The error names the variable and what is accepted.
Result<Settings, std::string> read_settings(const Environment& environment);

}  // namespace weir::server::otlp
