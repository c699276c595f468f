#include "server/limiter/take/held_limit.h"

#include <algorithm>

namespace weir::server {
namespace {

using algorithms::Limit;
using algorithms::State;

// Answers when a limit whose count was lowered would be full as it was written, which it is again
// when it has been forgotten: it has lost what was used of the difference, but not what was left.
int64_t full_as_written_ns(const HeldLimit& held, int64_t now_ns) {
  if (held.limit.count >= held.limit.adaptive.start) return 0;
  Limit limit = held.limit;
  State state = held.state;
  algorithms::change_count(limit, state, limit.adaptive.start, now_ns);
  return limit.algorithm->expires_at_ns(limit, state);
}

}  // namespace

int64_t gone_at_ns(const HeldLimit& held, bool named, int64_t now_ns) {
  int64_t kept_ns = algorithms::ban_expires_at_ns(held.limit.ban, held.ban);
  if (held.limit.adaptive.is_set()) {
    kept_ns = std::max(kept_ns, full_as_written_ns(held, now_ns));
    if (named) kept_ns = std::max(kept_ns, held.adaptive.touched_ns + algorithms::kAdaptiveKeptNs);
  }
  const int64_t expires_ns = held.limit.algorithm->expires_at_ns(held.limit, held.state);
  if (named || held.limit.algorithm->uses_entries) return std::max(expires_ns, kept_ns);
  const auto verdict = algorithms::peek(held.limit, held.state, now_ns, 0);
  if (verdict.reset_after_ns >= expires_ns - now_ns) return std::max(expires_ns, kept_ns);
  return std::max(now_ns + verdict.reset_after_ns, kept_ns);
}

int64_t used_permits(const HeldLimit& held, int64_t now_ns) {
  return algorithms::used_permits(held.limit, held.state, now_ns);
}

}  // namespace weir::server
