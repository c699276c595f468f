#include "server/limiter/take/limit_matching.h"

#include <algorithm>

#include "algorithms/gcra.h"
#include "base/check.h"
#include "base/time_units.h"

namespace weir::server {

using algorithms::CarryOver;
using algorithms::Limit;

bool match_in_place(const NamedLimits& named, std::span<HeldLimit> held, int64_t now_ns) {
  const bool are_those =
      std::ranges::equal(held, named.limits, [](const HeldLimit& has, const Limit& limit) {
        return !limit.adaptive.is_set() && !has.limit.adaptive.is_set() &&
               algorithms::same_limit(has.limit, limit);
      });
  if (!are_those) return false;
  for (size_t i = 0; i < held.size(); ++i) {
    held[i].limit = named.limits[i];
    held[i].policy = named.policy_of(i);
    held[i].mode = named.mode_of(i);
    algorithms::follow_ban(held[i].limit.ban, held[i].ban, now_ns);
  }
  return true;
}

Result<void, std::string> LimitMatching::match(const NamedLimits& named,
                                               std::vector<HeldLimit>* matched_as) {
  const bool changes = named.policy_version() > key_.policy_version;
  const size_t count = named.limits.size();
  WEIR_REQUIRE(count <= algorithms::kLimitsMax);
  std::vector<HeldLimit>& next = *matched_as;
  next.clear();
  next.resize(count);
  LimitSet matched;
  for (size_t i = 0; i < count; ++i) {
    next[i].policy = named.policy_of(i);
    matched[i] = match_equal(&next[i], named.limits[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    const CarryOver carry_over = named.carry_over_of(i, changes);
    if (matched[i] || match_algorithm(&next[i], named.limits[i], carry_over)) continue;
    start(&next[i], named.limits[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    if (next[i].limit.adaptive.is_set()) follow_count(named, i, &next[i]);
  }
  keep_left_over(&next);
  for (size_t i = 0; i < next.size(); ++i) {
    next[i].mode = i < count ? named.mode_of(i) : named.mode;
  }
  if (next.size() > algorithms::kLimitsMax) return too_many(next, count);
  return {};
}

bool LimitMatching::match_equal(HeldLimit* held, const Limit& limit) {
  for (size_t i = 0; i < key_.held.size(); ++i) {
    if (taken_[i] || !algorithms::same_limit(key_.held[i].limit, limit)) continue;
    taken_[i] = true;
    const HeldLimit& from = key_.held[i];
    held->limit = limit;
    held->state = from.state;
    held->list = from.list;
    held->ban = from.ban;
    held->low_water = from.low_water;
    if (limit.adaptive.is_set()) {
      held->limit = from.limit;
      held->limit.ban = limit.ban;
      held->adaptive = from.adaptive;
    }
    algorithms::follow_ban(limit.ban, held->ban, call_.now_ns);
    return true;
  }
  return false;
}

void LimitMatching::follow_count(const NamedLimits& named, size_t limit, HeldLimit* held) {
  const bool is_shared = named.has_shared_count(limit);
  if (held->adaptive.touched_ns == 0) held->adaptive.round_ns = call_.now_ns;
  if (is_shared || held->adaptive.is_shared) {
    const int64_t count = named.limits[limit].count;
    parameters_changed_ |= count != held->limit.count;
    algorithms::change_count(held->limit, held->state, count, call_.now_ns);
  }
  held->adaptive.is_shared = is_shared;
  held->used_before = used_permits(*held, call_.now_ns);
}

// Answers the stored limit that one of a policy, or of none, goes on from: of the same policy, or
// where one of both is of none, if there is any.
std::optional<size_t> LimitMatching::find_other(const Limit& limit, uint32_t policy) const {
  std::optional<size_t> other;
  for (size_t i = 0; i < key_.held.size(); ++i) {
    if (taken_[i] || key_.held[i].limit.algorithm != limit.algorithm) continue;
    if (!is_another_policy(key_.held[i].policy, policy)) return i;
    if (!other && !limit.algorithm->uses_entries) other = i;
  }
  return other;
}

// One of another policy stays what it is.
bool LimitMatching::match_algorithm(HeldLimit* held, const Limit& limit, CarryOver mode) {
  const auto found = find_other(limit, held->policy);
  if (!found) return false;
  const HeldLimit& from = key_.held[*found];
  taken_[*found] = !is_another_policy(from.policy, held->policy);
  parameters_changed_ = true;
  if (mode == CarryOver::kReset) {
    start(held, limit);
  } else {
    carry_over(from, limit, mode, key_.entries_of(from), held);
  }
  return true;
}

void LimitMatching::carry_over(HeldLimit from, const Limit& limit, CarryOver mode,
                               const algorithms::Entries* entries, HeldLimit* held) const {
  if (from.limit.adaptive.is_set()) {  // what is used is what its count as written lacks
    algorithms::change_count(from.limit, from.state, from.limit.adaptive.start, call_.now_ns);
  }
  held->limit = limit;
  held->state = algorithms::carry_over(
      from.limit, limit, from.state, {.mode = mode, .now_ns = call_.now_ns, .wall = &call_.wall()},
      entries);
  held->list = from.list;
  held->ban = from.ban;
  forget_charges(held);
  algorithms::follow_ban(limit.ban, held->ban, call_.now_ns);
}

// The limit is another one than that which was charged until now, so it gives nothing of it back.
void LimitMatching::forget_charges(HeldLimit* held) const {
  if (key_.changes > 0 && held->limit.algorithm->used != nullptr)
    held->low_water.note(key_.changes, 0);
}

void LimitMatching::start(HeldLimit* held, const Limit& limit) {
  held->limit = limit;
  held->state = algorithms::fresh_state(limit, call_.now_ns);
  forget_charges(held);
  if (!*key_.adopted || limit.algorithm != &algorithms::algorithm_gcra) return;
  held->state = **key_.adopted;
  key_.adopted->reset();
  parameters_changed_ = true;
}

void LimitMatching::keep_left_over(std::vector<HeldLimit>* next) const {
  for (size_t i = 0; i < key_.held.size(); ++i) {
    if (!taken_[i] && gone_at_ns(key_.held[i], false, call_.now_ns) > call_.now_ns) {
      next->push_back(key_.held[i]);
    }
  }
}

std::string LimitMatching::too_many(std::span<const HeldLimit> next, size_t named) const {
  int64_t first_ns = algorithms::kNever;
  for (const HeldLimit& held : next.subspan(named)) {
    first_ns = std::min(first_ns, gone_at_ns(held, false, call_.now_ns));
  }
  std::string text = "ERR the key cannot hold " + std::to_string(next.size()) + " limits, " +
                     std::to_string(algorithms::kLimitsMax) +
                     " are the most: those that the request does not name stay until they are full";
  if (first_ns == algorithms::kNever) return text;
  const int64_t wait_ms = algorithms::units_up(first_ns - call_.now_ns, kNsPerMs);
  return text + ", the first of them in " + std::to_string(wait_ms) + " ms";
}

}  // namespace weir::server
