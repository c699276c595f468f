#include "server/limiter/throttle.h"

#include "algorithms/gcra.h"
#include "server/limiter/queue.h"
#include "server/limiter/record.h"
#include "server/limiter/resolve.h"
#include "server/limiter/single.h"

namespace weir::server {
namespace {

using algorithms::Limit;
using algorithms::Verdict;

Verdict decide_on(Call& call, Limiter& limiter, const LimiterRequest& request) {
  const int64_t cost = request.costs[0];
  if (cost > 0 && has_queue(call, limiter.key())) {
    return denial_after_queue(call, limiter, request).verdict;
  }
  HeldLimit& held = limiter.named()[0];
  const Verdict verdict =
      algorithms::gcra_throttle(held.limit, held.state, {.now_ns = call.now_ns, .cost = cost});
  if (verdict.changed || (limiter.parameters_changed() && cost != 0)) limiter.save();
  return verdict;
}

Result<Verdict, ErrorReplied> throttle_any(Call& call, std::string_view key, const Limit& limit,
                                           int64_t cost) {
  LimiterRequest request;
  request.limits = {limit};
  request.costs = {cost};
  auto limiter = resolve(call, key, request);
  if (!limiter) return limiter.error();
  const Verdict verdict = decide_on(call, *limiter, request);
  if (cost > 0) count_verdict(call, name_of(call, *limiter), verdict, cost);
  return verdict;
}

}  // namespace

Result<Verdict, ErrorReplied> throttle(Call& call, std::string_view key, const Limit& limit,
                                       int64_t cost) {
  auto single = load_single(call, key, limit);
  if (!single) return throttle_any(call, key, limit, cost);
  const Verdict verdict =
      algorithms::gcra_throttle(limit, single->state, {.now_ns = call.now_ns, .cost = cost});
  if (verdict.changed) save_single(call, &*single, limit);
  if (cost > 0) {
    count_verdict(call, {call.database, single->ref.position(), key}, verdict, cost);
  }
  return verdict;
}

}  // namespace weir::server
