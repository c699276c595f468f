#include "server/limiter/take/policy_effect.h"

#include <algorithm>

namespace weir::server {

using algorithms::Mode;

bool has_fixed_answer(const NamedLimits& named) {
  return named.kind() == PolicyKind::kBlocked ||
         (named.kind() == PolicyKind::kUnlimited && named.limits.empty());
}

Answer fixed_answer(const Limiter& limiter, const LimiterRequest& request, bool peeks) {
  const bool shadow = request.shadow || limiter.names().mode == Mode::kShadow;
  const bool allowed = limiter.names().kind() == PolicyKind::kUnlimited;
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
          .granted = {.cost = allowed ? cost : 0},
          .shape = {.hold = request.hold_ns.has_value()}};
}

Mode mode_in(const LimiterRequest& request, const HeldLimit& held) {
  if (request.force) return Mode::kEnforced;
  return request.shadow ? Mode::kShadow : held.mode;
}

bool enforces_nothing(Limiter& limiter, const LimiterRequest& request) {
  const auto limits = limiter.named();
  if (limits.empty()) return request.shadow || limiter.names().mode == Mode::kShadow;
  return std::ranges::all_of(
      limits, [&](const HeldLimit& held) { return mode_in(request, held) == Mode::kShadow; });
}

bool never_waits(Limiter& limiter, const LimiterRequest& request) {
  return has_fixed_answer(limiter) || enforces_nothing(limiter, request);
}

DecidingPart deciding_part(const NamedLimits& named, std::span<const algorithms::Limit> limits,
                           const LimiterRequest& request) {
  DecidingPart part;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (named.mode_of(i) == Mode::kShadow) continue;
    part.limits.push_back(limits[i]);
    part.costs.push_back(request.cost(i));
    part.places.push_back(i);
  }
  if (part.limits.empty()) {
    part.limits.assign(limits.begin(), limits.end());
    part.costs = request.costs;
    for (size_t i = 0; i < limits.size(); ++i) part.places.push_back(i);
  }
  return part;
}

}  // namespace weir::server
