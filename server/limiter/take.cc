#include "server/limiter/take.h"

#include <algorithm>

#include "algorithms/concurrency.h"
#include "server/limiter/limiters.h"
#include "server/limiter/single.h"

namespace weir::server {
namespace {

using algorithms::Guard;

int64_t largest_cost(const std::vector<Guard>& guards) {
  int64_t most = 0;
  for (const Guard& guard : guards) most = std::max(most, guard.cost);
  return most;
}

TopKeys::Name name_of(const Call& call, const Limiter& limiter) {
  return {.database = call.database, .hash = limiter.hash(), .key = limiter.key()};
}

// Counts a decision. A request that asks for nothing is no decision.
void count(Call& call, const Limiter& limiter, const Answer& answer, int64_t permits) {
  if (answer.charged || (permits > 0 && !answer.verdict.allowed)) {
    count_verdict(call, name_of(call, limiter), answer.verdict, permits);
  }
}

bool any_changed(const std::vector<Guard>& guards) {
  return std::any_of(guards.begin(), guards.end(),
                     [](const Guard& guard) { return guard.verdict.changed; });
}

int64_t shown_up(int64_t ns, int64_t unit_ns) {
  return ns == algorithms::kNever ? -1 : algorithms::units_up(ns, unit_ns);
}

}  // namespace

int64_t milliseconds_up(int64_t duration_ns) { return shown_up(duration_ns, algorithms::kNsPerMs); }

int64_t seconds_up(int64_t duration_ns) { return shown_up(duration_ns, algorithms::kNsPerSecond); }

void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t permits) {
  if (!call.keys.failure().ok()) return;  // the verdict will be discarded
  call.host.notify(EventClass::kLimiter, verdict.allowed ? "allowed" : "limited", name.database,
                   name.key);
  if (verdict.allowed) {
    ++call.limiters.allowed;
    call.limiters.top_taken.add(name, permits);
  } else {
    ++call.limiters.denied;
    call.limiters.top_denied.add(name, 1);
  }
}

void count_denial(Call& call, const Limiter& limiter) {
  count_verdict(call, name_of(call, limiter), {.allowed = false}, 1);
}

const std::vector<algorithms::Limit>* limits_of(Call& call, const LimiterRequest& request) {
  if (request.policy.empty()) return &request.limits;
  const Policy* policy = call.limiters.policies.find(request.policy);
  return policy == nullptr ? nullptr : &policy->limits;
}

std::optional<NamedLimits> resolve_limits(Call& call, const LimiterRequest& request) {
  NamedLimits named{.limits = &request.limits};
  if (!request.policy.empty()) {
    const Policy* policy = call.limiters.policies.find(request.policy);
    if (policy == nullptr) {
      call.reply.error("ERR no policy is named '" + request.policy + "'; RL.POLICY SET makes one");
      return std::nullopt;
    }
    named = {.limits = &policy->limits, .policy_version = policy->version, .mode = policy->mode};
  }
  if (std::string error = check_request(request, *named.limits); !error.empty()) {
    call.reply.error(error);
    return std::nullopt;
  }
  return named;
}

std::optional<Answer> take_fast(Call& call, std::string_view key, const LimiterRequest& request) {
  if (request.limits.size() != 1 || request.costs.size() != 1) return std::nullopt;
  if (request.upto || request.force || request.shadow) return std::nullopt;
  const algorithms::Limit& limit = request.limits[0];
  auto single = load_single(call, key, limit);
  if (!single) return std::nullopt;
  const int64_t cost = request.costs[0];
  Answer answer{
      .verdict = algorithms::decide(limit, single->state, {.now_ns = call.now_ns, .cost = cost})};
  answer.allowed = answer.verdict.allowed;
  answer.charged = answer.allowed && cost > 0;
  if (answer.verdict.changed) save_single(call, &*single, limit);
  if (cost > 0) {
    count_verdict(call, {call.database, single->ref.position(), key}, answer.verdict, cost);
  }
  return answer;
}

Answer take(Call& call, Limiter& limiter, const LimiterRequest& request, bool peek) {
  const auto limits = limiter.named();
  std::vector<Guard> guards(limits.size());
  bool leases = false;
  bool lends = false;
  for (size_t i = 0; i < limits.size(); ++i) {
    guards[i] = {.limit = &limits[i].limit,
                 .state = &limits[i].state,
                 .entries = limiter.entries_of(limits[i]),
                 .cost = request.cost(i)};
    const bool makes_leases = limits[i].limit.algorithm->makes_leases;
    leases |= makes_leases;
    lends |= makes_leases && guards[i].cost > 0;
  }
  const bool asks = request.asks();
  algorithms::AllRequest all{.now_ns = call.now_ns, .upto = request.upto, .force = request.force};
  all.peek = peek || lends;
  algorithms::AllVerdict verdict = algorithms::take_all(guards, all);
  if (all.peek && !peek && verdict.allowed) {  // only now is an id needed
    all.peek = false;
    all.lease_id = limiter.draw_id();
    verdict = algorithms::take_all(guards, all);
  }

  Answer answer{.verdict = guards[verdict.deciding].verdict,
                .index = static_cast<int64_t>(verdict.deciding),
                .allowed = verdict.allowed,
                .charged = verdict.allowed && asks && !peek,
                .granted = verdict.granted,
                .leases = leases};
  if (lends && answer.charged) answer.lease_id = all.lease_id;
  if (!peek) {
    if (any_changed(guards) || (limiter.parameters_changed() && asks)) limiter.save();
    count(call, limiter, answer, largest_cost(guards));
  }
  if (!request.shadow) return answer;
  if (verdict.allowed) answer.index = -1;
  answer.allowed = true;
  return answer;
}

void save_denied(Call& call, Limiter& limiter) {
  bool changed = limiter.parameters_changed();
  for (HeldLimit& held : limiter.named()) {
    const algorithms::Request nothing{
        .now_ns = call.now_ns, .cost = 0, .entries = limiter.entries_of(held)};
    changed |= algorithms::decide(held.limit, held.state, nothing).changed;
  }
  if (changed) limiter.save();
}

Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits) {
  std::vector<Guard> guards;
  for (HeldLimit& held : limits) {
    guards.push_back({.limit = &held.limit,
                      .state = &held.state,
                      .entries = limiter.entries_of(held),
                      .cost = 0});
  }
  const auto verdict = algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true});
  return {.verdict = guards[verdict.deciding].verdict,
          .index = static_cast<int64_t>(verdict.deciding),
          .allowed = verdict.allowed};
}

void reply_answer(Call& call, const Answer& answer, bool upto) {
  const bool with_lease = answer.leases && answer.allowed && answer.verdict.allowed;
  const algorithms::Verdict& verdict = answer.verdict;
  const int64_t figures[] = {answer.allowed ? 1 : 0,
                             verdict.limit,
                             verdict.remaining,
                             verdict.allowed ? 0 : milliseconds_up(verdict.retry_after_ns),
                             milliseconds_up(verdict.reset_after_ns),
                             answer.index};
  if (!upto && !with_lease) return call.reply.integers(figures);
  call.reply.array(6 + (upto ? 1 : 0) + (with_lease ? 1 : 0));
  for (const int64_t figure : figures) call.reply.integer(figure);
  if (upto) call.reply.integer(answer.granted);
  if (!with_lease) return;
  answer.lease_id ? call.reply.integer(*answer.lease_id) : call.reply.null();
}

}  // namespace weir::server
