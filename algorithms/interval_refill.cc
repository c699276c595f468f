#include "algorithms/interval_refill.h"

#include <algorithm>
#include <string>

#include "algorithms/instant.h"
#include "algorithms/level.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

IntervalLevel interval_of(const State& state) {
  return {.level = state.words[0], .grid_ns = state.words[2]};
}

// Answers how many refills bring `permits` back.
int64_t refills_for(const Limit& limit, int64_t permits) {
  return permits <= 0 ? 0 : (permits - 1) / limit.count + 1;
}

// Answers the wait until so many more permits are there. REQUIRES: `at` is that of now_ns.
int64_t wait_for(const Limit& limit, const IntervalLevel& at, int64_t now_ns, int64_t permits) {
  if (permits <= 0) return 0;
  return at.grid_ns - now_ns + refills_for(limit, permits) * limit.period_ns;
}

Verdict verdict_at(const Limit& limit, const IntervalLevel& at, int64_t now_ns, Outcome outcome) {
  return {.allowed = outcome.retry_after_ns == 0,
          .limit = limit.capacity,
          .remaining = std::max<int64_t>(0, at.level),
          .retry_after_ns = outcome.retry_after_ns,
          .reset_after_ns = wait_for(limit, at, now_ns, limit.capacity - at.level),
          .changed = outcome.changed};
}

}  // namespace

State interval_state(const IntervalLevel& interval, bool unseen) {
  return {.words = {interval.level, 0, interval.grid_ns, unseen}};
}

IntervalLevel interval_at(const Limit& limit, const State& state, int64_t now_ns) {
  IntervalLevel at = interval_of(state);
  if (at.level >= limit.capacity || now_ns - at.grid_ns < limit.period_ns) return at;
  const int64_t refills = (now_ns - at.grid_ns) / limit.period_ns;
  at.grid_ns += refills * limit.period_ns;
  const bool fills = refills >= refills_for(limit, limit.capacity - at.level);
  at.level = fills ? limit.capacity : at.level + refills * limit.count;
  return at;
}

int64_t interval_level_min(const Limit& limit) {
  return limit.capacity - kAheadNsMax / limit.period_ns * limit.count;
}

// A refill comes whole or not at all: the last one may come up to a period after the fill.
Result<void, RangeError> interval_check(const Limit& limit) {
  if (refills_for(limit, limit.capacity) <= kFillNsMax / limit.period_ns) return {};
  return RangeError{"capacity * period / count",
                    std::to_string(limit.capacity) + " permits at " + std::to_string(limit.count) +
                        "/" + format_duration(limit.period_ns),
                    at_most_longest_fill() + " in whole periods"};
}

Verdict interval_decide(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  IntervalLevel at = interval_at(limit, state, now_ns);
  if (request.cost > limit.capacity && !request.force) {
    return verdict_at(limit, at, now_ns, {.retry_after_ns = kNever});
  }
  if (request.cost == 0 || (request.cost > at.level && !request.force)) {
    const int64_t missing = request.cost == 0 ? 0 : request.cost - at.level;
    return verdict_at(limit, at, now_ns,
                      {.retry_after_ns = wait_for(limit, at, now_ns, missing),
                       .changed = !request.peek && take_unseen(state)});
  }
  if (int128{at.level} - request.cost < interval_level_min(limit)) {  // invariant 1
    return verdict_at(limit, at, now_ns, {.retry_after_ns = kNever});
  }
  if (at.level >= limit.capacity) at.grid_ns = now_ns;  // this is the first take from full
  at.level -= request.cost;
  if (!request.peek) state = interval_state(at, false);
  return verdict_at(limit, at, now_ns, {.changed = !request.peek});
}

int64_t interval_owed(const Limit& limit, const State& state, int64_t now_ns) {
  return std::max<int64_t>(0, -interval_at(limit, state, now_ns).level);
}

Verdict interval_refund(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  IntervalLevel at = interval_at(limit, state, now_ns);
  if (refund.permits == 0 || at.level >= limit.capacity) {
    return verdict_at(limit, at, now_ns, {.changed = take_unseen(state)});
  }
  const int64_t room = limit.capacity - at.level;
  at.level += std::min(room, refund.permits);
  state = interval_state(at, false);
  return verdict_at(limit, at, now_ns, {.changed = true});
}

int64_t interval_expires_at_ns(const Limit& limit, const State& state) {
  const IntervalLevel at = interval_of(state);
  return at.grid_ns + wait_for(limit, at, at.grid_ns, limit.capacity - at.level);
}

// DO NOT CHANGE: on disk.
void interval_write(const State& state, Writer& out) {
  const IntervalLevel at = interval_of(state);
  write_instant(at.grid_ns, out);
  out.zigzag(at.level);
}

bool interval_read(const Limit& limit, Reader& in, State& state) {
  IntervalLevel at;
  if (!read_instant(in, at.grid_ns)) return false;
  at.level = in.zigzag();
  state = interval_state(at, false);
  return in.ok() && at.level <= limit.capacity && at.level >= interval_level_min(limit);
}

}  // namespace weir::algorithms
