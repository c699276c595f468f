// Spans as OTLP sends them (ExportTraceServiceRequest): each with an id of its own, as the child of
// the span that has asked.
#pragma once

#include <span>
#include <string>

#include "server/os/random.h"
#include "server/otlp/resource.h"
#include "server/report/spans.h"

namespace weir::server::otlp {

// `random` makes the ids.
std::string spans_message(std::span<const Span> spans, const Attributes& resource, Random* random);

}  // namespace weir::server::otlp
