#include "server/http/format/trace_field.h"

#include "base/trace_parent.h"
#include "server/limiter/policy/request.h"

namespace weir::server::http {

std::optional<std::string> trace_of(Fields fields) {
  std::optional<std::string> value = combined(fields, kTraceWord);
  if (value && !parse_trace_parent(*value)) value.reset();
  return value;
}

void add_trace(const std::optional<std::string>& trace, std::vector<std::string>* words) {
  if (trace) words->insert(words->end(), {std::string(kTraceWord), *trace});
}

}  // namespace weir::server::http
