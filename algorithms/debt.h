// What BURSTY and WARMUP share: a request is allowed when its predecessor is paid for, whatever its
// cost, and pays by moving next_free, the instant from which on its successor may come.
//
//     state      next_free, and how many permits idle time has stored
//     allowed    iff  next_free <= now, or cost 0, or FORCE
//     retry      =    next_free - now, a whole number of nanoseconds
//     booking    =    let in although next_free > now; may act once it is
//
// It must not know how long a permit takes or how idle time is stored. `Kind` knows; it has
//     int64_t next_free_ns
//     static Kind at(limit, state, now_ns)             brought up to now_ns: idle time is stored
//     static int64_t dearest(limit)                    the longest time of a permit, in intervals
//     State state() const
//     Kind spend(limit, cost) const                    the next request waits for these
//     int64_t used(limit, now_ns) const                how many whole permits give_back() can take
//     bool give_back(limit, now_ns, permits)           true if it changed
//     Verdict verdict(limit, now_ns, DebtOutcome) const
//
// Invariant: next_free <= now + kAheadNsMax, because a request that would move it further, or that
// alone takes longer than kFillNsMax, is refused as never.
#pragma once

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/instant.h"
#include "algorithms/wide.h"
#include "base/check.h"

namespace weir::algorithms {

struct DebtOutcome {
  int64_t retry_after_ns = 0;  // 0: allowed
  bool changed = false;
};

// Answers how long it is until `next_free_ns`; a clock that was set far back shortens it.
inline int64_t debt_wait(int64_t next_free_ns, int64_t now_ns) {
  return std::min(next_free_ns - now_ns, kAheadNsMax);
}

template <class Kind>
bool debt_can_take(const Limit& limit, int64_t wait_ns, int64_t cost) {
  if (cost > kCostMax) return false;
  const int128 units = int128{cost} * Kind::dearest(limit) * limit.rate_period_ns;
  if (units > int128{kFillNsMax} * limit.rate_count) return false;
  return wait_ns <= 0 || units < int128{kAheadNsMax - wait_ns} * limit.rate_count;
}

template <class Kind>
Verdict debt_decide(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  const Kind at = Kind::at(limit, state, now_ns);
  if (request.cost == 0) return at.verdict(limit, now_ns, {});
  const int64_t wait_ns = debt_wait(at.next_free_ns, now_ns);
  if (!debt_can_take<Kind>(limit, wait_ns, request.cost)) {
    return at.verdict(limit, now_ns, {.retry_after_ns = kNever});
  }
  if (wait_ns > 0 && !request.force) return at.verdict(limit, now_ns, {.retry_after_ns = wait_ns});
  const Kind next = at.spend(limit, request.cost);
  if (!request.peek) state = next.state();
  return next.verdict(limit, now_ns, {.changed = !request.peek});
}

// The wait, in permits at the limit's rate.
template <class Kind>
int64_t debt_owed(const Limit& limit, const State& state, const Request& request) {
  const int64_t wait_ns =
      debt_wait(Kind::at(limit, state, request.now_ns).next_free_ns, request.now_ns);
  return wait_ns <= 0 ? 0 : ceil_divide(int128{wait_ns} * limit.rate_count, limit.rate_period_ns);
}

template <class Kind>
int64_t debt_used(const Limit& limit, const State& state, int64_t now_ns) {
  return Kind::at(limit, state, now_ns).used(limit, now_ns);
}

template <class Kind>
Verdict debt_refund(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  Kind at = Kind::at(limit, state, now_ns);
  const bool changed = refund.permits > 0 && at.give_back(limit, now_ns, refund.permits);
  if (changed) state = at.state();
  return at.verdict(limit, now_ns, {.changed = changed});
}

template <class Kind>
Booking debt_reserve(const Limit& limit, State& state, const Reserve& reserve) {
  WEIR_REQUIRE(reserve.cost >= 0);
  if (reserve.cost == 0) return {.granted = true};
  const int64_t now_ns = clamp_instant(reserve.now_ns);
  const Kind at = Kind::at(limit, state, now_ns);
  const int64_t wait_ns = debt_wait(at.next_free_ns, now_ns);
  if (!debt_can_take<Kind>(limit, wait_ns, reserve.cost)) return {.wait_ns = kNever};
  if (wait_ns > reserve.max_wait_ns) return {.wait_ns = wait_ns};
  state = at.spend(limit, reserve.cost).state();
  return {.granted = true, .wait_ns = std::max<int64_t>(0, wait_ns), .changed = true};
}

// DO NOT CHANGE: on disk.
inline void write_next_free(int64_t next_free_ns, Writer& out) {
  out.fixed64(static_cast<uint64_t>(next_free_ns));
}
inline bool read_next_free(Reader& in, int64_t& next_free_ns) {
  const uint64_t read_ns = in.fixed64();
  next_free_ns = static_cast<int64_t>(read_ns);
  return in.ok() && read_ns <= static_cast<uint64_t>(kInstantNsMax + kAheadNsMax);
}

}  // namespace weir::algorithms
