// TRACEPARENT in a request: the trace that it belongs to, in the form of W3C Trace Context
// (base/trace_parent.h). It is for the slow log and for exemplars of /metrics, and decides nothing.
//
// Each request has another one. So what finds requests by their words must not see it: where it
// stands last, the parsed request is found without it (request_cache.h), and an ID tells the same
// request, whatever trace it is sent in (take/remembered.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "server/command/command.h"

namespace weir::server {

// Answers where among words TRACEPARENT stands, with a valid value after it; nothing if it does not
// stand there, or stands there more than once.
std::optional<size_t> find_trace(Args words);

// Answers the words without TRACEPARENT where that is last.
Args without_last_trace(Args words);
// Answers the words after the first ones of a request, without TRACEPARENT where that is last, and
// tells the call its value wherever it stands. What is wrong with it is found by whoever reads the
// words.
Args untraced_words(Call& call, size_t first);

}  // namespace weir::server
