#include "server/limiter/take/bans.h"

#include <algorithm>

#include "server/limiter/take/limiters.h"

namespace weir::server {

std::optional<RunningBan> running_ban(Limiter& limiter, int64_t now_ns) {
  std::optional<RunningBan> longest;
  const std::span<HeldLimit> limits = limiter.all();
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i].mode == algorithms::Mode::kShadow) continue;
    const int64_t rest_ns = algorithms::ban_rest(limits[i].ban, now_ns);
    if (rest_ns > (longest ? longest->rest_ns : 0)) longest = {.limit = i, .rest_ns = rest_ns};
  }
  return longest;
}

std::optional<RunningBan> ban_against(Limiter& limiter, const LimiterRequest& request,
                                      int64_t now_ns) {
  if (request.force || !request.asks()) return std::nullopt;
  return running_ban(limiter, now_ns);
}

bool count_denials(Call& call, Limiter& limiter, std::span<const algorithms::Guard> guards,
                   std::optional<RunningBan>* begun) {
  bool counted = false;
  const std::span<HeldLimit> limits = limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    const algorithms::Ban& rule = limits[i].limit.ban;
    if (!rule.is_set() || guards[i].verdict.allowed || guards[i].cost == 0) continue;
    counted = true;
    if (!algorithms::count_denial(rule, limits[i].ban, call.now_ns)) continue;
    if (!*begun || (*begun)->rest_ns < rule.for_ns) *begun = {.limit = i, .rest_ns = rule.for_ns};
  }
  if (*begun && call.keys.failure().ok()) {
    call.limiters.verdicts.count_ban();
    call.host.notify(EventClass::kLimiter, "banned", call.database, limiter.key());
  }
  return counted;
}

void show_ban(const RunningBan& ban, int64_t own_retry_ns, Answer* answer) {
  answer->ban = ban;
  answer->allowed = answer->verdict.allowed = false;
  answer->verdict.retry_after_ns = std::max(ban.rest_ns, own_retry_ns);
}

}  // namespace weir::server
