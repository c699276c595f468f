#include "server/limiter/take/single.h"

#include <algorithm>
#include <array>

#include "algorithms/limiter_record.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/resolve.h"

namespace weir::server {
namespace {

using algorithms::FewLimits;
using algorithms::Guard;
using algorithms::Limit;
using algorithms::Mode;

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

void put(Call& call, storage::Ref* ref, std::string_view record, int64_t gone_ns) {
  const int64_t gone_ms = algorithms::units_up(gone_ns, kNsPerMs);
  call.keys.put(ref, storage::Type::kLimiter, record, gone_ms == algorithms::kNever ? 0 : gone_ms);
}

// Writes the state with its TTL, or nothing if it is full.
void save_single(Call& call, SingleLimit* single, const Limit& limit) {
  const int64_t gone_ns = limit.algorithm->expires_at_ns(limit, single->state);
  if (gone_ns <= call.now_ns) return call.keys.erase(&single->ref);
  char record[algorithms::kLimiterRecordBytesMax];
  const size_t size = algorithms::write_single(limit, single->state, record);
  put(call, &single->ref, {record, size}, gone_ns);
}

bool is_stored_in_state(const Limit& limit) {
  return !limit.algorithm->uses_entries && !limit.ban.is_set() && !limit.adaptive.is_set();
}

// Nothing where a limit has more than its state, or is not enforced.
std::optional<FewLimits> few_of(const NamedLimits& named) {
  const size_t count = named.limits.size();
  if (count == 0 || count > algorithms::kFewLimitsMax || named.kind() != PolicyKind::kLimits ||
      !std::ranges::all_of(named.limits, is_stored_in_state)) {
    return std::nullopt;
  }
  FewLimits few{.limits = named.limits, .policy_version = named.policy_version()};
  for (size_t i = 0; i < count; ++i) {
    if (named.mode_of(i) == Mode::kShadow) return std::nullopt;
    few.policies[i] = named.policy_of(i);
  }
  return few;
}

using States = std::array<algorithms::State, algorithms::kFewLimitsMax>;

bool load_few(const Call& call, const storage::Ref& ref, const FewLimits& few, States* states) {
  if (ref.exists()) {
    return ref.type() == storage::Type::kLimiter && algorithms::read_few(ref.value(), few, *states);
  }
  for (size_t i = 0; i < few.limits.size(); ++i) {
    (*states)[i] = algorithms::fresh_state(few.limits[i], call.now_ns);
  }
  return true;
}

// Writes the states with their TTL, or nothing if all are full.
void save_few(Call& call, storage::Ref* ref, const FewLimits& few, const States& states) {
  int64_t gone_ns = 0;
  for (size_t i = 0; i < few.limits.size(); ++i) {
    const Limit& limit = few.limits[i];
    gone_ns = std::max(gone_ns, limit.algorithm->expires_at_ns(limit, states[i]));
  }
  if (gone_ns <= call.now_ns) return call.keys.erase(ref);
  char record[algorithms::kFewRecordBytesMax];
  const size_t size = algorithms::write_few(few, states, record);
  put(call, ref, {record, size}, gone_ns);
}

}  // namespace

std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key, const Limit& limit,
                                               int64_t cost) {
  auto single = load_single(call, key, limit);
  if (!single) return std::nullopt;
  algorithms::Verdict verdict = algorithms::decide(
      limit, single->state, {.now_ns = call.now_ns, .cost = cost, .wall = &call.wall()});
  algorithms::show_debt(limit, single->state, {.now_ns = call.now_ns, .wall = &call.wall()},
                        verdict);
  if (verdict.changed) save_single(call, &*single, limit);
  if (cost > 0) {
    count_verdict(call, {call.database, single->ref.key_order(), key}, verdict, cost,
                  limit.algorithm->id);
  }
  return verdict;
}

std::optional<Answer> take_few(Call& call, std::string_view key, const LimiterRequest& request) {
  if (has_queue(call, key)) return std::nullopt;
  const auto named = limits_of(call, key, request);
  const auto few = named ? few_of(*named) : std::nullopt;
  if (!few) return std::nullopt;
  storage::Ref ref = call.look_up(key);
  States states;
  if (!load_few(call, ref, *few, &states)) return std::nullopt;

  std::array<Guard, algorithms::kFewLimitsMax> room;
  const auto guards = std::span(room).first(few->limits.size());
  for (size_t i = 0; i < guards.size(); ++i) {
    guards[i] = {.limit = &few->limits[i], .state = &states[i], .cost = request.cost(i)};
  }
  const auto verdict = algorithms::take_all(guards, {.now_ns = call.now_ns, .wall = &call.wall()});
  Decision decision{.answer = answer_of(call, *named, request, guards, verdict),
                    .cost = largest_cost(guards),
                    .changed = any_changed(guards)};
  decision.answer.charged = verdict.allowed && request.asks();
  if (decision.changed) save_few(call, &ref, *few, states);
  count_decision(call, {call.database, ref.key_order(), key}, named->counts(), decision);
  return std::move(decision.answer);
}

}  // namespace weir::server
