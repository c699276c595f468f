#include "base/trace_parent.h"

#include <algorithm>

#include "base/ascii.h"

namespace weir {
namespace {

constexpr size_t kVersionAt = 0, kTraceAt = 3, kParentAt = 36, kFlagsAt = 53;
constexpr size_t kVersionDigits = 2, kTraceDigits = 32, kParentDigits = 16, kFlagsDigits = 2;
constexpr size_t kBytes = kFlagsAt + kFlagsDigits;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view digits) { return digits.find_first_not_of('0') == digits.npos; }

}  // namespace

std::optional<TraceParent> parse_trace_parent(std::string_view text) {
  if (text.size() < kBytes || text.size() > kTraceParentBytesMax) return std::nullopt;
  const std::string_view version = text.substr(kVersionAt, kVersionDigits);
  const std::string_view trace = text.substr(kTraceAt, kTraceDigits);
  const std::string_view parent = text.substr(kParentAt, kParentDigits);
  const std::string_view flags = text.substr(kFlagsAt, kFlagsDigits);
  for (const size_t at : {kTraceAt, kParentAt, kFlagsAt}) {
    if (text[at - 1] != '-') return std::nullopt;
  }
  if (!is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(flags)) return std::nullopt;
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return std::nullopt;
  if (text.size() > kBytes && (version == "00" || text[kBytes] != '-')) return std::nullopt;
  return TraceParent{
      .trace_id = trace, .parent_id = parent, .is_sampled = (hex_value(flags[1]) & 1) != 0};
}

}  // namespace weir
