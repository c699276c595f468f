#include "server/limiter/counts/callers.h"

#include "base/string_hash.h"

namespace weir::server {
namespace {

// A multiplier of golden-section hashing (Knuth, The Art of Computer Programming, 6.4).
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

uint64_t hash_of(std::string_view text) { return StringHash()(text); }

}  // namespace

size_t Callers::count(std::string_view policy, std::string_view name, int64_t now_ns) {
  const uint64_t policy_hash = hash_of(policy);
  forget_silent(now_ns);
  if (!name.empty()) note(policy_hash, name, now_ns);
  const auto found = of_policy_.find(policy_hash);
  return found == of_policy_.end() ? 0 : found->second;
}

void Callers::note(uint64_t policy, std::string_view name, int64_t now_ns) {
  const uint64_t id = policy * kGolden + hash_of(name);
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    found->second->seen_ns = now_ns;
    order_.splice(order_.end(), order_, found->second);
    return;
  }
  size_t& there = of_policy_[policy];
  if (there >= kCallersMax) return;
  ++there;
  by_id_.emplace(id, order_.insert(order_.end(), {.policy = policy, .id = id, .seen_ns = now_ns}));
  if (order_.size() > kCallersOfAllMax) forget_first();
}

void Callers::forget_first() {
  const Caller& first = order_.front();
  const auto policy = of_policy_.find(first.policy);
  if (--policy->second == 0) of_policy_.erase(policy);
  by_id_.erase(first.id);
  order_.pop_front();
}

void Callers::forget_silent(int64_t now_ns) {
  while (!order_.empty() && now_ns - order_.front().seen_ns >= kCallerNs) forget_first();
}

}  // namespace weir::server
