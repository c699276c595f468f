#include "server/limiter/take/record.h"

#include "server/limiter/take/limiters.h"

namespace weir::server {
namespace {

uint8_t id_of(const algorithms::Algorithm* algorithm) {
  return algorithm == nullptr ? 0 : algorithm->id;
}

void count_banned(Call& call, const Answer& answer) {
  if (!answer.ban || !call.keys.failure().ok()) return;
  call.limiters.verdicts.count(id_of(answer.algorithm), Outcome::kBanned);
}

CountedKey counted(const Call& call, const Limiter& limiter) {
  return {.name = name_of(call, limiter), .counts = limiter.names().counts()};
}

}  // namespace

TopKeys::Name name_of(const Call& call, const Limiter& limiter) {
  return {.database = call.database, .hash = limiter.hash(), .key = limiter.key()};
}

void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t cost, uint8_t algorithm) {
  if (!call.keys.failure().ok()) return;  // the verdict will be discarded
  Limiters& limiters = call.limiters;
  call.host.notify(EventClass::kLimiter, verdict.allowed ? "allowed" : "limited", name.database,
                   name.key);
  if (verdict.allowed) {
    limiters.verdicts.count(algorithm, Outcome::kAllowed);
    limiters.verdicts.count_permits(cost);
    limiters.takings.count(cost);
    limiters.top.taken.add(name, cost, call.now_ns);
  } else {
    limiters.verdicts.count(algorithm, Outcome::kDenied);
    limiters.top.denied.add(name, 1, call.now_ns);
  }
}

void count_shadow_verdict(Call& call, const TopKeys::Name& name, bool allowed, int64_t cost,
                          uint8_t algorithm) {
  if (!call.keys.failure().ok()) return;
  Limiters& limiters = call.limiters;
  if (allowed) {
    limiters.verdicts.count(algorithm, Outcome::kShadowAllowed);
    limiters.takings.count(cost);
    limiters.top.taken.add(name, cost, call.now_ns);
  } else {
    limiters.verdicts.count(algorithm, Outcome::kShadowDenied);
    limiters.top.shadow.add(name, 1, call.now_ns);
  }
}

void count_for_policy(Call& call, PolicyCounts* counts, const PolicyVerdict& verdict) {
  if (counts == nullptr || !call.keys.failure().ok()) return;
  if (verdict.shadow_denies) {
    ++counts->shadow_denied;
  } else {
    ++(verdict.allowed ? counts->granted : counts->denied);
    if (verdict.banned) ++counts->banned;
  }
}

void count_denial(Call& call, const Limiter& limiter, const Answer& answer, bool shadow) {
  count_denial(call, counted(call, limiter), answer, shadow);
}

void count_denial(Call& call, const CountedKey& key, const Answer& answer, bool shadow) {
  count_for_policy(call, key.counts,
                   {.allowed = false, .shadow_denies = shadow, .banned = answer.ban.has_value()});
  const uint8_t algorithm = id_of(answer.algorithm);
  if (shadow) return count_shadow_verdict(call, key.name, false, 1, algorithm);
  count_verdict(call, key.name, {.allowed = false}, 1, algorithm);
  count_banned(call, answer);
}

void record(Call& call, Limiter& limiter, const Decision& decision) {
  if (decision.changed) limiter.save();
  count_decision(call, counted(call, limiter), decision);
}

// A request that asks for nothing is no decision that counts.
void count_decision(Call& call, const CountedKey& key, const Decision& decision) {
  const Answer& answer = decision.answer;
  if (!answer.charged && (decision.cost == 0 || answer.verdict.allowed)) return;
  const uint8_t algorithm = id_of(answer.algorithm);
  count_for_policy(call, key.counts,
                   {.allowed = answer.verdict.allowed,
                    .shadow_denies = answer.shadow_denies(),
                    .banned = answer.ban.has_value()});
  if (answer.shadow) {
    count_shadow_verdict(call, key.name, answer.verdict.allowed, decision.cost, algorithm);
  } else {
    count_verdict(call, key.name, answer.verdict, decision.cost, algorithm);
    count_banned(call, answer);
  }
  if (answer.shadow_denier != nullptr)
    count_shadow_verdict(call, key.name, false, decision.cost, id_of(answer.shadow_denier));
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
