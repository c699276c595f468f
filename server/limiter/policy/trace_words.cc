#include "server/limiter/policy/trace_words.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/trace_parent.h"
#include "server/limiter/policy/request.h"

namespace weir::server {

namespace {

Args without(Args words, std::optional<size_t> trace) {
  return trace && *trace + 2 == words.size() ? words.first(*trace) : words;
}

}  // namespace

std::optional<size_t> find_trace(Args words) {
  std::optional<size_t> found;
  words = words.first(std::min(words.size(), kRequestWordsMax));  // one with more is refused
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].size() != kTraceWord.size() || !equals_ignoring_case(words[i], kTraceWord))
      continue;
    if (!parse_trace_parent(words[i + 1])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

Args without_last_trace(Args words) { return without(words, find_trace(words)); }

Args untraced_words(Call& call, size_t first) {
  const Args words = call.args.subspan(first);
  const auto at = find_trace(words);
  if (at) call.trace = words[*at + 1];
  return without(words, at);
}

}  // namespace weir::server
