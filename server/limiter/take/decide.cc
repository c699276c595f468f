#include "server/limiter/take/decide.h"

#include <algorithm>

#include "algorithms/settle.h"
#include "algorithms/take_all.h"
#include "server/limiter/take/bans.h"
#include "server/limiter/take/holds.h"
#include "server/limiter/take/policy_effect.h"

namespace weir::server {
namespace {

using algorithms::Guard;

std::vector<Guard> guards_of(Limiter& limiter, std::span<HeldLimit> limits,
                             const LimiterRequest& request) {
  std::vector<Guard> guards(limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    guards[i] = {.limit = &limits[i].limit,
                 .state = &limits[i].state,
                 .entries = limiter.entries_of(limits[i]),
                 .cost = request.cost(i)};
  }
  return guards;
}

int64_t largest_cost(const std::vector<Guard>& guards) {
  int64_t most = 0;
  for (const Guard& guard : guards) most = std::max(most, guard.cost);
  return most;
}

std::vector<LimitRow> rows_of(const Call& call, const Limiter& limiter,
                              const std::vector<Guard>& guards) {
  std::vector<LimitRow> rows;
  for (size_t i = 0; i < guards.size(); ++i) {
    rows.push_back(
        {.name = limiter.name_of(i),
         .limit = *guards[i].limit,
         .verdict = guards[i].verdict,
         .more_after_ns = algorithms::more_after_ns(
             *guards[i].limit, *guards[i].state, guards[i].verdict,
             {.now_ns = call.now_ns, .entries = guards[i].entries, .wall = &call.wall()})});
  }
  return rows;
}

bool any_changed(const std::vector<Guard>& guards) {
  return std::any_of(guards.begin(), guards.end(),
                     [](const Guard& guard) { return guard.verdict.changed; });
}

bool makes_leases(const Guard& guard) { return guard.limit->algorithm->makes_leases; }

// What was taken by force is answered with the limit that has the least rest; a debt is a rest
// below 0.
void show_debt(const algorithms::AllRequest& request, std::span<const Guard> guards,
               Answer* answer) {
  int64_t least = algorithms::kNever;
  for (size_t i = 0; i < guards.size(); ++i) {
    const Guard& guard = guards[i];
    const int64_t rest = guard.verdict.remaining - algorithms::owed(*guard.limit, *guard.state,
                                                                    {.now_ns = request.now_ns,
                                                                     .entries = guard.entries,
                                                                     .wall = request.wall});
    if (i < answer->rows.size()) answer->rows[i].verdict.remaining = rest;
    if (rest >= least) continue;
    least = rest;
    answer->verdict = guard.verdict;
    answer->verdict.remaining = rest;
    answer->index = static_cast<int64_t>(i);
    answer->algorithm = guard.limit->algorithm;
  }
}

// The request is denied, and nothing changes.
Decision decide_banned(Call& call, Limiter& limiter, const LimiterRequest& request,
                       const RunningBan& ban) {
  std::vector<Guard> guards = guards_of(limiter, limiter.named(), request);
  const algorithms::AllRequest look{
      .now_ns = call.now_ns, .upto = request.upto, .peek = true, .wall = &call.wall()};
  const auto own = take_apart(limiter, guards, look).verdict;
  const int64_t own_retry_ns = guards[own.deciding].verdict.retry_after_ns;
  const int64_t cost = largest_cost(guards);
  for (Guard& guard : guards) guard.cost = 0;
  const auto verdict = take_apart(limiter, guards, look).verdict;
  const size_t index = ban.limit < guards.size() ? ban.limit : verdict.deciding;
  Answer answer{.verdict = guards[index].verdict,
                .index = static_cast<int64_t>(index),
                .algorithm = limiter.all()[ban.limit].limit.algorithm};
  show_ban(ban, own.allowed ? 0 : own_retry_ns, &answer);
  if (request.full) answer.rows = rows_of(call, limiter, guards);
  answer.allowed = answer.shadow = is_shadowed(limiter, request);
  return {.answer = answer, .cost = cost, .changed = false};
}

std::vector<MadeCharge> charges_of(Limiter& limiter, const std::vector<Guard>& guards,
                                   bool shadow_denies,
                                   const std::vector<algorithms::State>& before) {
  std::vector<MadeCharge> charges;
  for (size_t i = 0; i < guards.size(); ++i) {
    const HeldLimit& held = limiter.named()[i];
    charges.push_back({.charged = !shadow_denies || !is_watched(limiter.names(), i),
                       .permits = guards[i].cost,
                       .kept = algorithms::kept_state(held.limit, before[i], held.state)});
  }
  return charges;
}

Decision decide_or_peek(Call& call, Limiter& limiter, const LimiterRequest& request, bool peeks) {
  if (has_fixed_answer(limiter)) {
    return {.answer = fixed_answer(limiter, request, peeks),
            .cost = *std::max_element(request.costs.begin(), request.costs.end())};
  }
  if (const auto ban = ban_against(limiter, request, call.now_ns)) {
    return decide_banned(call, limiter, request, *ban);
  }
  std::vector<Guard> guards = guards_of(limiter, limiter.named(), request);
  std::vector<algorithms::State> before;  // only of a request that is to be held
  const bool leases = std::any_of(guards.begin(), guards.end(), makes_leases);
  const auto lends_one = [](const Guard& guard) { return makes_leases(guard) && guard.cost > 0; };
  const bool lends = std::any_of(guards.begin(), guards.end(), lends_one);
  const bool asks = request.asks();
  algorithms::AllRequest all{
      .now_ns = call.now_ns, .upto = request.upto, .force = request.force, .wall = &call.wall()};
  const bool holds = request.hold_ns && asks && !peeks;
  if (holds) {
    for (const HeldLimit& held : limiter.named()) before.push_back(held.state);
  }
  all.peek = peeks || lends;
  TakenApart taken = take_apart(limiter, guards, all);
  if (all.peek && !peeks && taken.verdict.allowed) {  // only now is an id needed
    all.peek = false;
    all.lease_id = limiter.draw_id();
    guards =
        guards_of(limiter, limiter.named(), request);  // what shadow denied costs 0 in the look
    taken = take_apart(limiter, guards, all);
  }
  const algorithms::AllVerdict& verdict = taken.verdict;
  Answer answer{.verdict = guards[verdict.deciding].verdict,
                .index = static_cast<int64_t>(verdict.deciding),
                .algorithm = guards[verdict.deciding].limit->algorithm,
                .allowed = verdict.allowed,
                .charged = verdict.allowed && asks && !peeks,
                .granted = verdict.allowed ? largest_cost(guards) : 0,
                .leases = leases,
                .holds = request.hold_ns.has_value()};
  if (request.full) answer.rows = rows_of(call, limiter, guards);
  if (answer.charged && std::any_of(guards.begin(), guards.end(), lends_one)) {
    answer.lease_id = all.lease_id;
  }
  answer.shadow_denies = taken.shadow_denier != nullptr;
  answer.shadow_algorithm = taken.shadow_denier;
  if (request.force && answer.charged) show_debt(all, guards, &answer);
  if (holds && answer.charged) {
    answer.hold_id = answer.lease_id ? *answer.lease_id : limiter.draw_id();
    add_hold(call, limiter, *answer.hold_id, *request.hold_ns,
             charges_of(limiter, guards, answer.shadow_denies, before));
  }
  bool counted = false;
  if (!verdict.allowed && asks && !peeks && !is_shadowed(limiter, request) && !request.force) {
    std::optional<RunningBan> begun;
    counted = count_denials(call, limiter, guards, &begun);
    if (begun) show_ban(*begun, answer.verdict.retry_after_ns, &answer);
  }
  if (is_shadowed(limiter, request)) {
    answer.shadow = true;
    if (verdict.allowed) answer.index = -1;
    answer.allowed = true;
  }
  return {.answer = answer,
          .cost = largest_cost(guards),
          .changed = any_changed(guards) || counted || (limiter.parameters_changed() && asks)};
}

}  // namespace

Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request) {
  return decide_or_peek(call, limiter, request, false);
}

Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request) {
  return decide_or_peek(call, limiter, request, true).answer;
}

void add_rows(Call& call, Limiter& limiter, Answer* answer) {
  if (has_fixed_answer(limiter)) return;
  LimiterRequest nothing;
  nothing.costs = {0};
  std::vector<Guard> guards = guards_of(limiter, limiter.named(), nothing);
  if (guards.empty()) return;
  algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  std::vector<LimitRow> rows = rows_of(call, limiter, guards);
  for (size_t i = 0; i < std::min(rows.size(), answer->rows.size()); ++i) {
    rows[i].name = answer->rows[i].name;
  }
  answer->rows = std::move(rows);
}

Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits) {
  LimiterRequest nothing;
  nothing.costs = {0};
  std::vector<Guard> guards = guards_of(limiter, limits, nothing);
  const auto verdict =
      algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  return {.verdict = guards[verdict.deciding].verdict,
          .index = static_cast<int64_t>(verdict.deciding),
          .algorithm = guards[verdict.deciding].limit->algorithm,
          .allowed = verdict.allowed};
}

}  // namespace weir::server
