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
using algorithms::KeyGuards;
using algorithms::Mode;

// All limits of a request with SHADOW decide, as they would if they were enforced.
std::vector<Guard> guards_of(Limiter& limiter, const LimiterRequest& request) {
  std::vector<Guard> guards;
  const auto limits = limiter.named();
  guards.reserve(limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    guards.push_back(guard_of(limiter, limits[i], request.cost(i)));
    if (!request.shadow) guards[i].mode = mode_in(request, limits[i]);
  }
  return guards;
}

std::vector<LimitRow> rows_of(const Call& call, const NamedLimits& named,
                              std::span<const Guard> guards) {
  std::vector<LimitRow> rows;
  for (size_t i = 0; i < guards.size(); ++i) {
    rows.push_back(
        {.name = algorithms::limit_name(named.names, *guards[i].limit, i),
         .is_named = i < named.names.size() && !named.names[i].empty(),
         .is_of_policy = named.is_of_policy(i),
         .limit = *guards[i].limit,
         .verdict = guards[i].verdict,
         .more_after_ns = algorithms::more_after_ns(
             *guards[i].limit, *guards[i].state, guards[i].verdict,
             {.now_ns = call.now_ns, .entries = guards[i].entries, .wall = &call.wall()})});
  }
  return rows;
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
  if (request.full) answer.rows = rows_of(call, limiter.names(), guards);
  answer.allowed = answer.shadow = enforces_nothing(limiter, request);
  return {.answer = answer, .cost = cost, .changed = false};
}

int64_t shortest_lease_ns(const std::vector<Guard>& guards) {
  int64_t shortest_ns = algorithms::kNever;
  for (const Guard& guard : guards) {
    if (makes_leases(guard) && guard.cost > 0)
      shortest_ns = std::min(shortest_ns, guard.limit->period_ns);
  }
  return shortest_ns;
}

// The same of limits that may be in shadow.
Answer answer_in_modes(const Call& call, Limiter& limiter, const LimiterRequest& request,
                       const std::vector<Guard>& guards, const algorithms::AllVerdict& verdict) {
  Answer answer = answer_of(call, limiter.names(), request, guards, verdict);
  if (verdict.shadow_denier) answer.shadow_denier = guards[*verdict.shadow_denier].limit->algorithm;
  answer.shadow = enforces_nothing(limiter, request);
  if (!answer.shadow) return answer;
  if (verdict.allowed) answer.index = -1;
  answer.allowed = true;
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

// A key while it is taken from.
struct Taking {
  Taking(Limiter& of, const LimiterRequest& asked)
      : limiter(of), request(asked), guards(guards_of(of, asked)) {
    if (!holds()) return;
    for (const HeldLimit& held : limiter.named()) before.push_back(held.state);
  }

  bool holds() const { return request.asks() && request.hold_ns; }

  Limiter& limiter;
  const LimiterRequest& request;
  std::vector<Guard> guards;
  std::vector<algorithms::State> before = {};  // with HOLD
};

// Keeps what was charged under the lease's id, or one of its own.
void hold(Call& call, Taking& taking, Answer* answer) {
  std::vector<MadeCharge> charges;
  for (size_t i = 0; i < taking.guards.size(); ++i) {
    const HeldLimit& held = taking.limiter.named()[i];
    const Guard& guard = taking.guards[i];
    const bool was_refused = answer->shadow_denier != nullptr && guard.mode == Mode::kShadow;
    charges.push_back({.charged = !was_refused,
                       .permits = guard.cost,
                       .kept = algorithms::kept_state(held.limit, taking.before[i], held.state)});
  }
  answer->granted.hold = answer->granted.lease ? *answer->granted.lease : taking.limiter.draw_id();
  add_hold(call, taking.limiter, *answer->granted.hold, *taking.request.hold_ns, charges);
}

// Puts the guards back as they were before they were asked.
void ask_again(std::span<Taking> takings, std::span<KeyGuards> keys) {
  for (size_t i = 0; i < keys.size(); ++i) {
    takings[i].guards = guards_of(takings[i].limiter, takings[i].request);  // costs as asked
    keys[i].guards = takings[i].guards;
  }
}

// Charges the guards of all keys, or none. An id is drawn only when something is lent; so where
// something may be, they are asked first.
algorithms::Taken charge(std::span<Taking> takings, std::span<KeyGuards> keys,
                         algorithms::AllRequest all) {
  const auto lends_any = [](const Taking& taking) { return lends(taking.guards); };
  if (!std::ranges::any_of(takings, lends_any)) return algorithms::take_all(keys, all);
  all.peek = true;
  const algorithms::Taken asked = algorithms::take_all(keys, all);
  ask_again(takings, keys);
  for (size_t i = 0; asked.allowed && i < keys.size(); ++i) {
    if (keys[i].verdict.allowed && lends(takings[i].guards)) {
      keys[i].lease_id = takings[i].limiter.draw_id();
    }
  }
  all.peek = false;
  return algorithms::take_all(keys, all);  // a denial, too, may have to be remembered
}

// What came of a key. `granted`: all keys were.
Decision conclude(Call& call, Taking& taking, const KeyGuards& key, bool granted) {
  const auto& [limiter, request, guards, before] = taking;
  const bool asks = request.asks();
  Answer answer = answer_in_modes(call, limiter, request, guards, key.verdict);
  answer.charged = granted && asks && key.verdict.allowed;
  if (answer.charged && lends(guards)) {
    answer.granted.lease = key.lease_id;
    answer.granted.lease_ns = shortest_lease_ns(guards);
  }
  if (answer.charged && taking.holds()) hold(call, taking, &answer);
  const bool counted = count_denied(call, limiter, request, guards, &answer);
  return {.answer = answer,
          .cost = largest_cost(guards),
          .changed = any_changed(guards) || counted || (limiter.parameters_changed() && asks)};
}

// A policy that is UNLIMITED grants what the others grant.
void grant_as_others(Call& call, DecidedKey& key, const algorithms::Taken& taken) {
  if (!key.decision.answer.verdict.allowed) return;
  LimiterRequest request = key.request;
  if (!taken.allowed) {
    request.costs = {0};
  } else if (request.upto && taken.granted) {
    request.costs = {*taken.granted};
  }
  key.decision = *decide_first(call, key.limiter, request, false);
}

}  // namespace

int64_t largest_cost(std::span<const Guard> guards) {
  int64_t most = 0;
  for (const Guard& guard : guards) most = std::max(most, guard.cost);
  return most;
}

bool any_changed(std::span<const Guard> guards) {
  return std::ranges::any_of(guards, [](const Guard& guard) { return guard.verdict.changed; });
}

Answer answer_of(const Call& call, const NamedLimits& named, const LimiterRequest& request,
                 std::span<const Guard> guards, const algorithms::AllVerdict& verdict) {
  const Guard& deciding = guards[verdict.deciding];
  Answer answer{.verdict = deciding.verdict,
                .index = static_cast<int64_t>(verdict.deciding),
                .algorithm = deciding.limit->algorithm,
                .allowed = verdict.allowed,
                .granted = {.cost = verdict.allowed ? largest_cost(guards) : 0},
                .shape = {.lease = std::ranges::any_of(guards, makes_leases),
                          .hold = request.hold_ns.has_value()}};
  if (request.full) answer.rows = rows_of(call, named, guards);
  return answer;
}

Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto first = decide_first(call, limiter, request, false)) return *first;
  Taking taking(limiter, request);
  KeyGuards key{.guards = taking.guards};
  const auto taken = charge({&taking, 1}, {&key, 1}, asked_of_all(call, request));
  return conclude(call, taking, key, taken.allowed);
}

void decide(Call& call, std::span<DecidedKey> keys) {
  algorithms::AllRequest all = asked_of_all(call, keys[0].request);
  std::vector<Taking> takings;
  std::vector<KeyGuards> guards;
  takings.reserve(keys.size());  // the guards are theirs
  for (DecidedKey& key : keys) {
    auto first = key.stands ? key.stands : decide_first(call, key.limiter, key.request, false);
    if (first) {
      all.refused = all.refused || denies(first->answer, key.request.shadow);
      key.stands = std::move(first);
    } else {
      guards.push_back({.guards = takings.emplace_back(key.limiter, key.request).guards});
    }
  }
  const auto taken = charge(takings, guards, all);
  for (size_t i = 0, taken_from = 0; i < keys.size(); ++i) {
    if (keys[i].stands) {
      keys[i].decision = *std::move(keys[i].stands);
      grant_as_others(call, keys[i], taken);
    } else {
      keys[i].decision = conclude(call, takings[taken_from], guards[taken_from], taken.allowed);
      ++taken_from;
    }
  }
}

int64_t denier(std::span<const Answer> answers, bool shadow) {
  int64_t index = -1;
  int64_t longest_ns = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!denies(answers[i], shadow)) continue;
    const int64_t retry_ns = answers[i].verdict.retry_after_ns;
    if (index >= 0 && retry_ns <= longest_ns) continue;
    index = static_cast<int64_t>(i);
    longest_ns = retry_ns;
  }
  return index;
}

Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto first = decide_first(call, limiter, request, true)) return first->answer;
  std::vector<Guard> guards = guards_of(limiter, request);
  algorithms::AllRequest all = asked_of_all(call, request);
  all.peek = true;
  const auto verdict = algorithms::take_all(guards, all);
  return answer_in_modes(call, limiter, request, guards, verdict);
}

void add_rows(Call& call, Limiter& limiter, Answer* answer) {
  if (has_fixed_answer(limiter)) return;
  std::vector<Guard> guards;
  for (HeldLimit& held : limiter.named()) guards.push_back(guard_of(limiter, held, 0));
  if (guards.empty()) return;
  algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  std::vector<LimitRow> rows = rows_of(call, limiter.names(), guards);
  for (size_t i = 0; i < std::min(rows.size(), answer->rows.size()); ++i) {
    const LimitRow& asked = answer->rows[i];
    rows[i].name = asked.name;
    rows[i].is_named = asked.is_named;
    rows[i].is_of_policy = asked.is_of_policy;
    rows[i].verdict.allowed = asked.verdict.allowed;
  }
  answer->rows = std::move(rows);
}

}  // namespace weir::server
