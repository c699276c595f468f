#include "server/limiter/take/policy_effect.h"

#include <algorithm>

namespace weir::server {
namespace {

using algorithms::Guard;

// All limits are decided in one, whether they count or not.
bool stands_alone(const NamedLimits& named) {
  return named.shadow_all || named.policy_limits == named.limits.size();
}

}  // namespace

bool has_fixed_answer(const NamedLimits& named) {
  return named.kind == PolicyKind::kBlocked ||
         (named.kind == PolicyKind::kUnlimited && named.limits.empty());
}

Answer fixed_answer(const Limiter& limiter, const LimiterRequest& request, bool peeks) {
  const bool shadow = request.shadow || limiter.names().shadow_all;
  const bool allowed = limiter.names().kind == PolicyKind::kUnlimited;
  const int64_t cost = *std::max_element(request.costs.begin(), request.costs.end());
  const int64_t none = allowed ? -1 : 0;
  const int64_t wait_ns = allowed ? 0 : algorithms::kNever;
  return {.verdict = {.allowed = allowed,
                      .limit = none,
                      .remaining = none,
                      .retry_after_ns = wait_ns,
                      .reset_after_ns = wait_ns},
          .index = -1,
          .allowed = allowed || shadow,
          .charged = allowed && request.asks() && !peeks,
          .shadow = shadow,
          .granted = allowed ? cost : 0,
          .holds = request.hold_ns.has_value()};
}

bool is_shadowed(const Limiter& limiter, const LimiterRequest& request) {
  if (request.shadow) return true;
  const NamedLimits& named = limiter.names();
  return (named.shadow || named.shadow_all) && !request.force && stands_alone(named);
}

bool never_waits(const Limiter& limiter, const LimiterRequest& request) {
  return has_fixed_answer(limiter) || is_shadowed(limiter, request);
}

bool is_watched(const NamedLimits& named, size_t index) {
  return named.shadow_all || (named.shadow && index - named.policy_at < named.policy_limits);
}

TakenApart take_apart(const Limiter& limiter, std::span<Guard> guards,
                      const algorithms::AllRequest& all) {
  const NamedLimits& named = limiter.names();
  if (!named.shadow || all.force || stands_alone(named)) {
    return {.verdict = algorithms::take_all(guards, all)};
  }
  std::vector<Guard> counted;
  std::vector<Guard> watched;
  std::vector<size_t> places;
  for (size_t i = 0; i < guards.size(); ++i) {
    if (!is_watched(named, i)) places.push_back(i);
    (is_watched(named, i) ? watched : counted).push_back(guards[i]);
  }
  TakenApart taken{.verdict = algorithms::take_all(counted, all)};
  algorithms::AllRequest after = all;
  after.upto = false;
  after.peek = all.peek || !taken.verdict.allowed;
  for (Guard& guard : watched) {
    if (!taken.verdict.allowed) guard.cost = 0;
    if (taken.verdict.allowed && all.upto) guard.cost = taken.verdict.granted;
  }
  const algorithms::AllVerdict of_watched = algorithms::take_all(watched, after);
  if (taken.verdict.allowed && !of_watched.allowed)
    taken.shadow_denier = watched[of_watched.deciding].limit->algorithm;
  taken.verdict.deciding = places[taken.verdict.deciding];
  for (size_t i = 0; i < places.size(); ++i) guards[places[i]] = counted[i];
  for (size_t i = 0; i < watched.size(); ++i) {
    if (!of_watched.allowed) watched[i].cost = 0;  // nothing was charged
    guards[named.policy_at + i] = watched[i];
  }
  return taken;
}

const algorithms::Algorithm* take_watched(Call& call, Limiter& limiter, LimiterRequest* request,
                                          std::span<algorithms::State> states) {
  if (!limiter.names().shadow && !limiter.names().shadow_all) return nullptr;
  const auto limits = limiter.named();
  std::vector<Guard> guards;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!is_watched(limiter.names(), i)) continue;
    guards.push_back({.limit = &limits[i].limit,
                      .state = &states[i],
                      .entries = limiter.entries_of(limits[i]),
                      .cost = request->cost(i)});
  }
  const auto verdict = algorithms::take_all(guards, {.now_ns = call.now_ns, .wall = &call.wall()});
  if (verdict.allowed) return nullptr;
  std::vector<int64_t> costs;
  for (size_t i = 0; i < limits.size(); ++i) {
    costs.push_back(is_watched(limiter.names(), i) ? 0 : request->cost(i));
  }
  request->costs = std::move(costs);
  return guards[verdict.deciding].limit->algorithm;
}

CountedPart counted_part(const NamedLimits& named, std::span<const algorithms::Limit> limits,
                         const LimiterRequest& request) {
  CountedPart part{.limits = {}, .request = request};
  if (request.costs.size() > 1) part.request.costs.clear();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (is_watched(named, i) && !stands_alone(named)) continue;
    part.limits.push_back(limits[i]);
    if (request.costs.size() > 1) part.request.costs.push_back(request.cost(i));
  }
  return part;
}

}  // namespace weir::server
