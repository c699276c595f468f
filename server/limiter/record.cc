#include "server/limiter/record.h"

#include "server/limiter/limiters.h"

namespace weir::server {

TopKeys::Name name_of(const Call& call, const Limiter& limiter) {
  return {.database = call.database, .hash = limiter.hash(), .key = limiter.key()};
}

void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t cost) {
  if (!call.keys.failure().ok()) return;  // the verdict will be discarded
  call.host.notify(EventClass::kLimiter, verdict.allowed ? "allowed" : "limited", name.database,
                   name.key);
  if (verdict.allowed) {
    ++call.limiters.allowed;
    call.limiters.top_taken.add(name, cost);
  } else {
    ++call.limiters.denied;
    call.limiters.top_denied.add(name, 1);
  }
}

void count_denial(Call& call, const Limiter& limiter) {
  count_verdict(call, name_of(call, limiter), {.allowed = false}, 1);
}

// A request that asks for nothing is no decision that counts.
void record(Call& call, Limiter& limiter, const Decision& decision) {
  if (decision.changed) limiter.save();
  const Answer& answer = decision.answer;
  if (answer.charged || (decision.cost > 0 && !answer.verdict.allowed)) {
    count_verdict(call, name_of(call, limiter), answer.verdict, decision.cost);
  }
}

void record_denied(Call& call, Limiter& limiter) {
  bool changed = limiter.parameters_changed();
  for (HeldLimit& held : limiter.named()) {
    const algorithms::Request nothing{
        .now_ns = call.now_ns, .cost = 0, .entries = limiter.entries_of(held)};
    changed |= algorithms::decide(held.limit, held.state, nothing).changed;
  }
  if (changed) limiter.save();
}

}  // namespace weir::server
