#include "server/limiter/policy/limit_use.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/policy/trace_words.h"

namespace weir::server {
namespace {

// A policy is all that a short request names; whatever else has limits of its own has to be parsed.
bool writes_limits(Args words, uint32_t options) {
  constexpr size_t kOnlyPolicy = 2;
  words = without_last_trace(words);
  if (words.empty()) return false;
  const bool begins_with_policy = equals_ignoring_case(words[0], "POLICY");
  const bool has_groups = (options & kLimitsOfEach) != 0 && equals_ignoring_case(words[0], "EACH");
  if (!begins_with_policy && !has_groups && (options & kLimitsMayLack) == 0) return true;
  if (begins_with_policy && words.size() <= kOnlyPolicy) return false;
  const auto request = parse_request(words, options);
  if (!request || !request->limits.empty()) return true;
  return std::any_of(request->each.begin(), request->each.end(),
                     [](const AskedLimits& asked) { return !asked.limits.empty(); });
}

}  // namespace

void add_policy_use(Args args, size_t position, LimitUse* use) {
  if (args[position].size() <= kPolicyNameBytesMax) use->policies.push_back(position);
}

// A request with more words is refused for that.
void add_limit_use(Args args, size_t first, uint32_t options, LimitUse* use) {
  if (first > args.size()) return;
  use->is_inline = writes_limits(args.subspan(first), options);
  args = args.first(std::min(args.size(), first + kRequestWordsMax));
  for (size_t i = first; i < args.size(); ++i) {
    if (equals_ignoring_case(args[i], "FORCE")) use->is_admins = true;
    if (equals_ignoring_case(args[i], "POLICY") && i + 1 < args.size())
      add_policy_use(args, i + 1, use);
  }
}

void add_dialect_use(Args args, size_t cost, LimitUse* use) {
  use->is_inline = true;
  if (cost < args.size() && args[cost].starts_with('-')) use->is_admins = true;
}

}  // namespace weir::server
