// The field traceparent (base/trace_parent.h) of a request, as words of the command that it
// becomes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/http/format/message.h"

namespace weir::server::http {

// Answers the field's value. One that is not valid, and a field that is there twice, are as if
// there were none: the caller of a proxy may have sent them, and a trace decides nothing.
std::optional<std::string> trace_of(Fields fields);

// Appends TRACEPARENT with the value, if there is one, to the words of a command that takes it.
void add_trace(const std::optional<std::string>& trace, std::vector<std::string>* words);

}  // namespace weir::server::http
