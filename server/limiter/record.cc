#include "server/limiter/record.h"

#include "server/limiter/limiters.h"

namespace weir::server {

TopKeys::Name name_of(const Call& call, const Limiter& limiter) {
  return {.database = call.database, .hash = limiter.hash(), .key = limiter.key()};
}

void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t cost) {
  if (!call.keys.failure().ok()) return;  // the verdict will be discarded
  Limiters& limiters = call.limiters;
  call.host.notify(EventClass::kLimiter, verdict.allowed ? "allowed" : "limited", name.database,
                   name.key);
  if (verdict.allowed) {
    ++limiters.verdicts.allowed;
    limiters.verdicts.permits += static_cast<uint64_t>(cost);
    limiters.top.taken.add(name, cost, call.now_ns);
  } else {
    ++limiters.verdicts.denied;
    limiters.top.denied.add(name, 1, call.now_ns);
  }
}

void count_shadow_verdict(Call& call, const TopKeys::Name& name, bool allowed, int64_t cost) {
  if (!call.keys.failure().ok()) return;
  Limiters& limiters = call.limiters;
  if (allowed) {
    ++limiters.verdicts.shadow_allowed;
    limiters.top.taken.add(name, cost, call.now_ns);
  } else {
    ++limiters.verdicts.shadow_denied;
    limiters.top.shadow.add(name, 1, call.now_ns);
  }
}

void count_for_policy(Call& call, const Limiter& limiter, bool allowed, bool shadow_denies) {
  PolicyCounts* counts = limiter.names().counts;
  if (counts == nullptr || !call.keys.failure().ok()) return;
  if (shadow_denies) {
    ++counts->shadow_denied;
  } else {
    ++(allowed ? counts->granted : counts->denied);
  }
}

void count_denial(Call& call, const Limiter& limiter, bool shadow) {
  count_for_policy(call, limiter, false, shadow);
  const TopKeys::Name name = name_of(call, limiter);
  if (shadow) return count_shadow_verdict(call, name, false, 1);
  count_verdict(call, name, {.allowed = false}, 1);
}

// A request that asks for nothing is no decision that counts.
void record(Call& call, Limiter& limiter, const Decision& decision) {
  if (decision.changed) limiter.save();
  const Answer& answer = decision.answer;
  if (answer.charged || (decision.cost > 0 && !answer.verdict.allowed)) {
    const TopKeys::Name name = name_of(call, limiter);
    const bool shadow_denies = answer.shadow_denies || (answer.shadow && !answer.verdict.allowed);
    count_for_policy(call, limiter, answer.verdict.allowed, shadow_denies);
    if (answer.shadow) {
      count_shadow_verdict(call, name, answer.verdict.allowed, decision.cost);
    } else {
      count_verdict(call, name, answer.verdict, decision.cost);
    }
    if (answer.shadow_denies) count_shadow_verdict(call, name, false, decision.cost);
  }
}

void record_denied(Call& call, Limiter& limiter) {
  bool changed = limiter.parameters_changed();
  for (HeldLimit& held : limiter.named()) {
    const algorithms::Request nothing{.now_ns = call.now_ns,
                                      .cost = 0,
                                      .entries = limiter.entries_of(held),
                                      .wall = &call.wall()};
    changed |= algorithms::decide(held.limit, held.state, nothing).changed;
  }
  if (changed) limiter.save();
}

}  // namespace weir::server
