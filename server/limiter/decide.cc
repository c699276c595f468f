#include "server/limiter/decide.h"

#include <algorithm>

#include "algorithms/take_all.h"

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

std::vector<LimitRow> rows_of(const Limiter& limiter, const std::vector<Guard>& guards) {
  std::vector<LimitRow> rows;
  for (size_t i = 0; i < guards.size(); ++i) {
    rows.push_back({limiter.name_of(i), *guards[i].limit, guards[i].verdict});
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
  }
}

Decision decide_or_peek(Call& call, Limiter& limiter, const LimiterRequest& request, bool peeks) {
  std::vector<Guard> guards = guards_of(limiter, limiter.named(), request);
  const bool leases = std::any_of(guards.begin(), guards.end(), makes_leases);
  const bool lends = std::any_of(guards.begin(), guards.end(), [](const Guard& guard) {
    return makes_leases(guard) && guard.cost > 0;
  });
  const bool asks = request.asks();
  algorithms::AllRequest all{
      .now_ns = call.now_ns, .upto = request.upto, .force = request.force, .wall = &call.wall()};
  all.peek = peeks || lends;
  algorithms::AllVerdict verdict = algorithms::take_all(guards, all);
  if (all.peek && !peeks && verdict.allowed) {  // only now is an id needed
    all.peek = false;
    all.lease_id = limiter.draw_id();
    verdict = algorithms::take_all(guards, all);
  }
  Answer answer{.verdict = guards[verdict.deciding].verdict,
                .index = static_cast<int64_t>(verdict.deciding),
                .allowed = verdict.allowed,
                .charged = verdict.allowed && asks && !peeks,
                .granted = verdict.allowed ? largest_cost(guards) : 0,
                .leases = leases};
  if (request.full) answer.rows = rows_of(limiter, guards);
  if (lends && answer.charged) answer.lease_id = all.lease_id;
  if (request.force && answer.charged) show_debt(all, guards, &answer);
  if (request.shadow) {
    answer.shadow = true;
    if (verdict.allowed) answer.index = -1;
    answer.allowed = true;
  }
  return {.answer = answer,
          .cost = largest_cost(guards),
          .changed = any_changed(guards) || (limiter.parameters_changed() && asks)};
}

}  // namespace

Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request) {
  return decide_or_peek(call, limiter, request, false);
}

Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request) {
  return decide_or_peek(call, limiter, request, true).answer;
}

void add_rows(Call& call, Limiter& limiter, Answer* answer) {
  LimiterRequest nothing;
  nothing.costs = {0};
  std::vector<Guard> guards = guards_of(limiter, limiter.named(), nothing);
  if (guards.empty()) return;
  algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  std::vector<LimitRow> rows = rows_of(limiter, guards);
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
          .allowed = verdict.allowed};
}

}  // namespace weir::server
