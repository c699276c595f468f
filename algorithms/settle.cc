#include "algorithms/settle.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/check.h"

namespace weir::algorithms {
namespace {

// A state as it is stored; what is not stored does not count.
class Stored {
 public:
  Stored(const Limit& limit, const State& state) {
    Writer writer(bytes_, sizeof bytes_);
    limit.algorithm->write_state(limit, state, writer);
    size_ = writer.size();
  }
  bool operator==(const Stored& other) const {
    return std::string_view(bytes_, size_) == std::string_view(other.bytes_, other.size_);
  }

 private:
  char bytes_[kStateBytesMax];
  size_t size_ = 0;
};

Request by_force(const Settle& settle, int64_t now_ns, int64_t cost) {
  return {.now_ns = now_ns, .cost = cost, .force = true, .wall = settle.wall};
}

// Answers the state that a charge of what was used would have left; nothing if that is not known.
std::optional<State> as_if_used(const Limit& limit, const Settle& settle) {
  if (!settle.untouched || settle.kept == nullptr) return std::nullopt;
  State used = *settle.kept;
  const Request request = by_force(settle, settle.charged_at_ns, settle.used);
  if (!decide(limit, used, request).allowed) return std::nullopt;
  return used;
}

Verdict settle_by_difference(const Limit& limit, State& state, const Settle& settle) {
  if (settle.used <= settle.charged) {
    const int64_t permits = std::min(settle.charged - settle.used, settle.low_water);
    return refund(limit, state, {.now_ns = settle.now_ns, .permits = permits, .wall = settle.wall});
  }
  return decide(limit, state, by_force(settle, settle.now_ns, settle.used - settle.charged));
}

}  // namespace

bool is_as_charged(const Limit& limit, const State& state, const Settle& settle) {
  if (settle.kept == nullptr || limit.algorithm->settle != nullptr) return false;
  State charged = *settle.kept;
  decide(limit, charged, by_force(settle, settle.charged_at_ns, settle.charged));
  return Stored(limit, charged) == Stored(limit, state);
}

Verdict settle(const Limit& limit, State& state, const Settle& settle) {
  WEIR_REQUIRE(settle.used >= 0 && settle.charged >= 0 && !limit.algorithm->makes_leases);
  if (limit.algorithm->settle != nullptr) return limit.algorithm->settle(limit, state, settle);
  State next = state;
  Verdict verdict;
  if (const auto as_if = as_if_used(limit, settle)) {
    next = *as_if;
    verdict = peek(limit, next, {.now_ns = settle.now_ns, .cost = 0, .wall = settle.wall});
    verdict.changed = true;
  } else {
    verdict = settle_by_difference(limit, next, settle);
  }
  if (settle.peek) {
    verdict.changed = false;
  } else if (verdict.allowed) {
    state = next;
  }
  return verdict;
}

}  // namespace weir::algorithms
