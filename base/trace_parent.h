// The value of the field traceparent of W3C Trace Context (section 3.2): which trace a request
// belongs to, and which of its spans has asked.
//
//     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//     version, trace id, parent id, flags: hexadecimal digits in lower case
#pragma once

#include <optional>
#include <string_view>

namespace weir {

struct TraceParent {
  std::string_view trace_id;
  std::string_view parent_id;
  bool is_sampled = false;  // whoever began the trace may have recorded it
};

// The longest value that is read, of a version that has more after the flags.
inline constexpr size_t kTraceParentBytesMax = 128;

// Answers the parts of the text, which outlives them; nothing if it is not valid: version ff, an id
// that is all zero, an upper-case digit, or more after the flags of version 00. A later version is
// read as 00, with "-" before what else it has (section 3.2.4).
std::optional<TraceParent> parse_trace_parent(std::string_view text);

}  // namespace weir
