#include "server/limiter/take/throttle.h"

#include <algorithm>

#include "server/limiter/take/limiters.h"
#include "server/limiter/take/resolve.h"
#include "server/limiter/take/single.h"
#include "server/limiter/take/take.h"

namespace weir::server {
namespace {

using algorithms::Verdict;

// What is given back waits for nobody, and is no verdict that counts.
Result<Verdict, ErrorReplied> give_back(Call& call, std::string_view key,
                                        const LimiterRequest& request, int64_t permits) {
  auto limiter = resolve(call, key, request);
  if (!limiter) return limiter.error();
  HeldLimit& held = limiter->named()[0];
  const Verdict verdict =
      algorithms::refund(held.limit, held.state, {.now_ns = call.now_ns, .permits = permits});
  if (verdict.changed || limiter->parameters_changed()) limiter->save();
  call.host.audit().note();
  return verdict;
}

// Every case but the common one.
Result<Verdict, ErrorReplied> throttle_any(Call& call, std::string_view key,
                                           const algorithms::Limit& limit, int64_t cost) {
  if (call.limiters.limiting == Limiting::kOff) {
    return Verdict{.allowed = true, .limit = limit.capacity, .remaining = limit.capacity};
  }
  LimiterRequest request;
  request.limits = {limit};
  if (cost < 0) call.limiters.takings.make_strict();
  if (cost < 0) return give_back(call, key, request, -std::max(cost, -algorithms::kCostMax));
  request.costs = {cost};
  const auto answer = take_any(call, key, request);
  if (!answer) return answer.error();
  Verdict verdict = answer->verdict;
  verdict.allowed = answer->allowed;
  return verdict;
}

}  // namespace

Result<Verdict, ErrorReplied> throttle(Call& call, std::string_view key,
                                       const algorithms::Limit& limit, int64_t cost) {
  if (cost >= 0 && call.limiters.limiting == Limiting::kOn) {
    if (const auto verdict = take_single(call, key, limit, cost)) return *verdict;
  }
  return throttle_any(call, key, limit, cost);
}

}  // namespace weir::server
