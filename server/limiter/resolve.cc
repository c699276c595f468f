#include "server/limiter/resolve.h"

#include "server/limiter/limiters.h"

namespace weir::server {

Result<NamedLimits, std::string> limits_of(Call& call, const LimiterRequest& request) {
  NamedLimits named{.limits = &request.limits};
  if (!request.policy.empty()) {
    const Policy* policy = call.limiters.policies.find(request.policy);
    if (policy == nullptr) {
      return "ERR no policy is named '" + request.policy + "'; RL.POLICY SET makes one";
    }
    named = {.limits = &policy->limits, .policy_version = policy->version, .mode = policy->mode};
  }
  if (auto fit = check_fit(request, *named.limits); !fit) return fit.error();
  return named;
}

Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request) {
  auto limiter = Limiter::read(call, key);
  if (!limiter) return limiter;
  const auto limits = limits_of(call, request);
  if (!limits) return reply_error(call, limits.error());
  if (const auto named = limiter->name(*limits); !named) return reply_error(call, named.error());
  return limiter;
}

}  // namespace weir::server
