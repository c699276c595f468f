#include "server/limiter/single.h"

#include "algorithms/gcra.h"
#include "algorithms/limiter_record.h"
#include "server/limiter/acquire.h"
#include "server/limiter/limiters.h"
#include "server/limiter/take.h"

namespace weir::server {
namespace {

using algorithms::Limit;
using algorithms::Verdict;

std::optional<Verdict> run_on_any(Call& call, std::string_view key, const Limit& limit,
                                  int64_t quantity) {
  auto limiter = Limiter::read(call, key);
  if (!limiter) return std::nullopt;
  LimiterRequest request;
  request.limits = {limit};
  request.costs = {quantity};
  if (!limiter->name({.limits = &request.limits})) return std::nullopt;
  if (quantity > 0 && has_queue(call, key)) return behind_queue(call, *limiter, request).verdict;
  HeldLimit& held = limiter->named()[0];
  const Verdict verdict = algorithms::gcra_throttle(held.limit, held.state,
                                                    {.now_ns = call.now_ns, .permits = quantity});
  if (verdict.changed || (limiter->parameters_changed() && quantity != 0)) limiter->save();
  return verdict;
}

}  // namespace

std::optional<SingleLimit> load_single(Call& call, std::string_view key, const Limit& limit) {
  if (limit.algorithm->uses_entries || has_queue(call, key)) return std::nullopt;
  SingleLimit single{.ref = call.look_up(key), .state = {}};
  if (!single.ref.exists()) {
    single.state = algorithms::fresh_state(limit, call.now_ns);
    return single;
  }
  if (single.ref.type() != storage::Type::kLimiter ||
      !algorithms::read_single(single.ref.value(), limit, single.state)) {
    return std::nullopt;
  }
  return single;
}

void save_single(Call& call, SingleLimit* single, const Limit& limit) {
  const int64_t gone_ns = limit.algorithm->expires_at_ns(limit, single->state);
  if (gone_ns <= call.now_ns) return call.keys.erase(&single->ref);
  char record[algorithms::kLimiterRecordBytesMax];
  const size_t size = algorithms::write_single(limit, single->state, record);
  const int64_t gone_ms = algorithms::units_up(gone_ns, algorithms::kNsPerMs);
  call.keys.put(&single->ref, storage::Type::kLimiter, {record, size},
                gone_ms == algorithms::kNever ? 0 : gone_ms);
}

std::optional<Verdict> run_gcra(Call& call, std::string_view key, const Limit& limit,
                                int64_t quantity) {
  std::optional<Verdict> verdict;
  uint64_t hash = 0;
  if (auto single = load_single(call, key, limit)) {
    hash = single->ref.position();
    verdict = algorithms::gcra_throttle(limit, single->state,
                                        {.now_ns = call.now_ns, .permits = quantity});
    if (verdict->changed) save_single(call, &*single, limit);
  } else {
    verdict = run_on_any(call, key, limit, quantity);
    hash = call.look_up(key).position();
  }
  if (verdict && quantity > 0) count_verdict(call, {call.database, hash, key}, *verdict, quantity);
  return verdict;
}

}  // namespace weir::server
