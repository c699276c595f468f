// What of OTLP's messages metrics and spans have in common: who tells (a Resource), and by what (a
// scope). The numbers of fields are those of opentelemetry-proto 1.x. DO NOT CHANGE.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/protobuf.h"

namespace weir::server::otlp {

// Names with values, such as service.name.
using Attributes = std::vector<std::pair<std::string, std::string>>;

// Answers a KeyValue whose value is text.
std::string key_value(std::string_view key, std::string_view value);

// Answers a request: the resource around one scope that holds `items`, each the bytes of a Metric
// or of a Span. ResourceMetrics and ResourceSpans, and what is in them, are alike but for that.
std::string request_of(const Attributes& resource, const std::vector<std::string>& items);

}  // namespace weir::server::otlp
