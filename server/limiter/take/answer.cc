#include "server/limiter/take/answer.h"

namespace weir::server {
namespace {

// A unit that the compiler knows, since a division by another one takes longer than the rest.
template <int64_t kUnitNs>
int64_t shown_up(int64_t ns) {
  return ns == algorithms::kNever ? -1 : algorithms::units_up(ns, kUnitNs);
}

}  // namespace

int64_t milliseconds_up(int64_t duration_ns) { return shown_up<kNsPerMs>(duration_ns); }

int64_t seconds_up(int64_t duration_ns) { return shown_up<kNsPerS>(duration_ns); }

void reply_verdict(Call& call, const algorithms::Verdict& verdict) {
  call.reply.integers({verdict.allowed ? 1 : 0, verdict.limit, verdict.remaining,
                       verdict.allowed ? 0 : milliseconds_up(verdict.retry_after_ns),
                       milliseconds_up(verdict.reset_after_ns), 0});
}

void write_verdict(resp::ReplyWriter& out, const Answer& answer, bool upto) {
  const bool with_id = answer.allowed && (answer.shape.lease || answer.shape.hold);
  const algorithms::Verdict& verdict = answer.verdict;
  const int64_t metrics[] = {answer.allowed ? 1 : 0,
                             verdict.limit,
                             verdict.remaining,
                             verdict.allowed ? 0 : milliseconds_up(verdict.retry_after_ns),
                             milliseconds_up(verdict.reset_after_ns),
                             answer.index};
  if (!upto && !with_id) return out.integers(metrics);
  out.array(6 + (upto ? 1 : 0) + (with_id ? 1 : 0));
  for (const int64_t metric : metrics) out.integer(metric);
  if (upto) out.integer(answer.granted.cost);
  if (!with_id) return;
  const auto id = answer.granted.hold ? answer.granted.hold : answer.granted.lease;
  id ? out.integer(*id) : out.null();
}

}  // namespace weir::server
