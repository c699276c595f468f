// The field traceparent (base/trace_parent.h) of a request, as a word of the command that it
// becomes.
#pragma once

#include <string>
#include <vector>

#include "server/http/format/message.h"

namespace weir::server::http {

// Appends TRACEPARENT with the field's value to the words of a command that takes it, unless they
// have it already. A value that is not valid, and a field that is there twice, are as if there were
// none: the caller of a proxy may have sent them, and a trace decides nothing.
void add_trace(Fields fields, std::vector<std::string>* words);

}  // namespace weir::server::http
