#include "server/limiter/take/single.h"

#include "algorithms/limiter_record.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"

namespace weir::server {
namespace {

using algorithms::Limit;

struct SingleLimit {
  storage::Ref ref;
  algorithms::State state;
};

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

// Writes the state with its TTL, or nothing if it is full.
void save_single(Call& call, SingleLimit* single, const Limit& limit) {
  const int64_t gone_ns = limit.algorithm->expires_at_ns(limit, single->state);
  if (gone_ns <= call.now_ns) return call.keys.erase(&single->ref);
  char record[algorithms::kLimiterRecordBytesMax];
  const size_t size = algorithms::write_single(limit, single->state, record);
  const int64_t gone_ms = algorithms::units_up(gone_ns, kNsPerMs);
  call.keys.put(&single->ref, storage::Type::kLimiter, {record, size},
                gone_ms == algorithms::kNever ? 0 : gone_ms);
}

}  // namespace

std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key, const Limit& limit,
                                               int64_t cost, int64_t* more_after_ns) {
  auto single = load_single(call, key, limit);
  if (!single) return std::nullopt;
  algorithms::Verdict verdict = algorithms::decide(
      limit, single->state, {.now_ns = call.now_ns, .cost = cost, .wall = &call.wall()});
  algorithms::show_debt(limit, single->state, {.now_ns = call.now_ns, .wall = &call.wall()},
                        verdict);
  if (more_after_ns != nullptr) {
    *more_after_ns = algorithms::more_after_ns(limit, single->state, verdict,
                                               {.now_ns = call.now_ns, .wall = &call.wall()});
  }
  if (verdict.changed) save_single(call, &*single, limit);
  if (cost > 0) {
    count_verdict(call, {call.database, single->ref.key_order(), key}, verdict, cost,
                  limit.algorithm->id);
  }
  return verdict;
}

}  // namespace weir::server
