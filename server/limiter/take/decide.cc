#include "server/limiter/take/decide.h"

#include <algorithm>

#include "algorithms/settle.h"
#include "server/limiter/take/bans.h"
#include "server/limiter/take/holds.h"
#include "server/limiter/take/look.h"
#include "server/limiter/take/policy_effect.h"

namespace weir::server {
namespace {

using algorithms::Guard;
using algorithms::Mode;

std::vector<Guard> guards_of(Limiter& limiter, const LimiterRequest& request) {
  std::vector<Guard> guards;
  const auto limits = limiter.named();
  guards.reserve(limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    guards.push_back(guard_of(limiter, limits[i], request.cost(i)));
    guards[i].mode = mode_in(request, limits[i]);
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

bool lends(const std::vector<Guard>& guards) {
  return std::any_of(guards.begin(), guards.end(),
                     [](const Guard& guard) { return makes_leases(guard) && guard.cost > 0; });
}

// The request is denied, and nothing changes.
Decision decide_banned(Call& call, Limiter& limiter, const LimiterRequest& request,
                       const RunningBan& ban) {
  std::vector<Guard> guards = guards_of(limiter, request);
  const algorithms::AllRequest look{
      .now_ns = call.now_ns, .upto = request.upto, .peek = true, .wall = &call.wall()};
  const auto own = algorithms::take_all(guards, look);
  const int64_t own_retry_ns = guards[own.deciding].verdict.retry_after_ns;
  const int64_t cost = largest_cost(guards);
  for (Guard& guard : guards) guard.cost = 0;
  const auto verdict = algorithms::take_all(guards, look);
  const size_t index = ban.limit < guards.size() ? ban.limit : verdict.deciding;
  Answer answer{.verdict = guards[index].verdict,
                .index = static_cast<int64_t>(index),
                .algorithm = limiter.all()[ban.limit].limit.algorithm};
  show_ban(ban, own.allowed ? 0 : own_retry_ns, &answer);
  if (request.full) answer.rows = rows_of(call, limiter, guards);
  answer.allowed = answer.shadow = is_in_shadow(limiter, request);
  return {.answer = answer, .cost = cost, .changed = false};
}

// Charges the guards, all or none. An id is drawn only when something is lent; so where something
// may be, they are asked first.
algorithms::AllVerdict charge(Limiter& limiter, const LimiterRequest& request,
                              algorithms::AllRequest all, std::vector<Guard>* guards,
                              std::optional<int64_t>* lease) {
  if (!lends(*guards)) return algorithms::take_all(*guards, all);
  all.peek = true;
  const auto asked = algorithms::take_all(*guards, all);
  if (!asked.allowed) return asked;
  all.peek = false;
  all.lease_id = limiter.draw_id();
  *guards = guards_of(limiter, request);  // with the costs that were asked for
  const auto verdict = algorithms::take_all(*guards, all);
  if (lends(*guards)) *lease = all.lease_id;
  return verdict;
}

int64_t shortest_lease_ns(const std::vector<Guard>& guards) {
  int64_t shortest_ns = algorithms::kNever;
  for (const Guard& guard : guards) {
    if (makes_leases(guard) && guard.cost > 0)
      shortest_ns = std::min(shortest_ns, guard.limit->period_ns);
  }
  return shortest_ns;
}

std::vector<algorithms::State> states_of(std::span<const HeldLimit> limits) {
  std::vector<algorithms::State> states;
  for (const HeldLimit& held : limits) states.push_back(held.state);
  return states;
}

// Keeps what was charged under the lease's id, or one of its own. `before`: the states before it.
void hold(Call& call, Limiter& limiter, const LimiterRequest& request,
          const std::vector<Guard>& guards, const std::vector<algorithms::State>& before,
          Answer* answer) {
  std::vector<MadeCharge> charges;
  for (size_t i = 0; i < guards.size(); ++i) {
    const HeldLimit& held = limiter.named()[i];
    const bool was_refused = answer->shadow_denier != nullptr && guards[i].mode == Mode::kShadow;
    charges.push_back({.charged = !was_refused,
                       .permits = guards[i].cost,
                       .kept = algorithms::kept_state(held.limit, before[i], held.state)});
  }
  answer->granted.hold = answer->granted.lease ? *answer->granted.lease : limiter.draw_id();
  add_hold(call, limiter, *answer->granted.hold, *request.hold_ns, charges);
}

// The answer to a verdict, without what only a take is given: a charge, a lease, a hold.
Answer answer_of(const Call& call, Limiter& limiter, const LimiterRequest& request,
                 const std::vector<Guard>& guards, const algorithms::AllVerdict& verdict) {
  const Guard& deciding = guards[verdict.deciding];
  Answer answer{.verdict = deciding.verdict,
                .index = static_cast<int64_t>(verdict.deciding),
                .algorithm = deciding.limit->algorithm,
                .allowed = verdict.allowed,
                .shadow = is_in_shadow(limiter, request),
                .granted = {.cost = verdict.allowed ? largest_cost(guards) : 0},
                .shape = {.lease = std::any_of(guards.begin(), guards.end(), makes_leases),
                          .hold = request.hold_ns.has_value()}};
  if (verdict.shadow_denier) answer.shadow_denier = guards[*verdict.shadow_denier].limit->algorithm;
  if (answer.shadow) {
    if (verdict.allowed) answer.index = -1;
    answer.allowed = true;
  }
  if (request.full) answer.rows = rows_of(call, limiter, guards);
  return answer;
}

// What is decided without a look at the limits; nothing where they decide.
std::optional<Decision> decide_first(Call& call, Limiter& limiter, const LimiterRequest& request,
                                     bool peeks) {
  if (has_fixed_answer(limiter)) {
    return Decision{.answer = fixed_answer(limiter, request, peeks),
                    .cost = *std::max_element(request.costs.begin(), request.costs.end())};
  }
  if (const auto ban = ban_against(limiter, request, call.now_ns))
    return decide_banned(call, limiter, request, *ban);
  return std::nullopt;
}

// Counts a denial of enforced limits towards bans; tells whether the key has to be written.
bool count_denied(Call& call, Limiter& limiter, const LimiterRequest& request,
                  const std::vector<Guard>& guards, Answer* answer) {
  if (answer->allowed || !request.asks() || request.force) return false;
  std::optional<RunningBan> begun;
  const bool counted = count_denials(call, limiter, guards, &begun);
  if (begun) show_ban(*begun, answer->verdict.retry_after_ns, answer);
  return counted;
}

algorithms::AllRequest asked_of_all(const Call& call, const LimiterRequest& request) {
  return {
      .now_ns = call.now_ns, .upto = request.upto, .force = request.force, .wall = &call.wall()};
}

}  // namespace

Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto first = decide_first(call, limiter, request, false)) return *first;
  const bool asks = request.asks();
  std::vector<Guard> guards = guards_of(limiter, request);
  const bool holds = asks && request.hold_ns;
  const auto before = holds ? states_of(limiter.named()) : std::vector<algorithms::State>();
  const algorithms::AllRequest all = asked_of_all(call, request);
  std::optional<int64_t> lease;
  const auto verdict = charge(limiter, request, all, &guards, &lease);
  Answer answer = answer_of(call, limiter, request, guards, verdict);
  answer.charged = asks && verdict.allowed;
  answer.granted.lease = lease;
  if (lease) answer.granted.lease_ns = shortest_lease_ns(guards);
  if (answer.charged && holds) hold(call, limiter, request, guards, before, &answer);
  const bool counted = count_denied(call, limiter, request, guards, &answer);
  return {.answer = answer,
          .cost = largest_cost(guards),
          .changed = any_changed(guards) || counted || (limiter.parameters_changed() && asks)};
}

Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto first = decide_first(call, limiter, request, true)) return first->answer;
  std::vector<Guard> guards = guards_of(limiter, request);
  algorithms::AllRequest all = asked_of_all(call, request);
  all.peek = true;
  const auto verdict = algorithms::take_all(guards, all);
  return answer_of(call, limiter, request, guards, verdict);
}

void add_rows(Call& call, Limiter& limiter, Answer* answer) {
  if (has_fixed_answer(limiter)) return;
  std::vector<Guard> guards;
  for (HeldLimit& held : limiter.named()) guards.push_back(guard_of(limiter, held, 0));
  if (guards.empty()) return;
  algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  std::vector<LimitRow> rows = rows_of(call, limiter, guards);
  for (size_t i = 0; i < std::min(rows.size(), answer->rows.size()); ++i) {
    rows[i].name = answer->rows[i].name;
  }
  answer->rows = std::move(rows);
}

}  // namespace weir::server
