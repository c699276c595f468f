// LEAKY: a funnel. Each permit pours one unit of water in, the water runs out at count / period,
// and what would spill is denied.
//
// Source: the leaky bucket of J. Turner, New Directions in Communications, 1986.
//
//        | cost |   \~~~~~~~~~/  <- capacity
//        '---v--'    \~~~~~~~/   <- used: what was poured in and has not run out yet
//                     \_____/
//                        |       one permit leaves every period / count, never two at once
//
// It has one level and two uses. As a meter (a take) it lets a request pass at once when its water
// fits: the same verdicts as a greedy TOKENBUCKET that starts full, seen from the other side. As a
// queue (a booking) a request joins when its water fits, and leaves when all that is in the funnel
// with it, itself included, has run out: after used * period / count. So departures are at least
// period / count apart, however the arrivals bunch.
//
// Worked: capacity 3, 1 per 10 s. As a queue at second 0: bookings leave after 10, 20 and 30 s, a
// fourth is refused. At second 5 the level is 2.5: a fourth does not fit before second 10, and
// then leaves at 40.
//
// What the simple version gets wrong: it lets water run out by whole units only, or drops the
// fraction when it clamps at empty or full. Here nothing is rounded but the answers (level.h,
// which also says what a step of the clock does).
#include <algorithm>
#include <cstdlib>

#include "algorithms/adaptive.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/level.h"

namespace weir::algorithms {
namespace {

bool same_leaky(const Limit& a, const Limit& b) {
  return a.capacity == b.capacity && a.rate_count == b.rate_count &&
         a.rate_period_ns == b.rate_period_ns;
}

State fresh_leaky(const Limit&, int64_t now_ns) {
  return level_state({.used = 0, .at_ns = clamp_instant(now_ns)}, false);
}

// Joins the queue: the wait is the time until the funnel is empty again. If the funnel is full, the
// answer is the wait until there is room to join.
Booking reserve_leaky(const Limit& limit, State& state, const Reserve& reserve) {
  if (reserve.cost == 0) return {.granted = true};
  const Request request{.now_ns = reserve.now_ns, .cost = reserve.cost};
  State joined = state;
  const Verdict verdict = level_decide(limit, joined, request);
  if (!verdict.allowed) return {.wait_ns = verdict.retry_after_ns};
  if (verdict.reset_after_ns > reserve.max_wait_ns) return {.wait_ns = verdict.reset_after_ns};
  state = joined;
  return {.granted = true, .wait_ns = verdict.reset_after_ns, .changed = true};
}

State carry_over_leaky(const Limit& from, const Limit& to, const State& state,
                       const Change& change) {
  const int64_t now_ns = clamp_instant(change.now_ns);
  const int128 used = used_at(from, level_of(state), now_ns);
  return level_state({.used = carried_used(from, to, used, change.mode), .at_ns = now_ns}, false);
}

// DO NOT CHANGE: on disk.
void write_leaky(const Limit& limit, const State& state, Writer& out) {
  const Level level = level_of(state);
  write_instant(level.at_ns, out);
  write_units(limit, level.used, out);
}

bool read_leaky(const Limit& limit, Reader& in, State& state) {
  Level level;
  if (!read_instant(in, level.at_ns) || !read_units(limit, in, level.used)) return false;
  state = level_state(level, false);
  return holds_level(limit, level);
}

// LEAKY count/period [CAPACITY c]
constexpr Option kLeakyOptions[] = {{.name = "CAPACITY", .left_out = "count"}};
Result<void, RangeError> leaky_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.capacity = written.values[0].value_or(written.count);
  return {};
}
Written leaky_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.capacity, limit.count);
  return written;
}
constexpr Grammar kLeakyGrammar = {Grammar::Rate::kPerPeriod, kLeakyOptions, leaky_spec,
                                   leaky_written};

}  // namespace

extern const Algorithm algorithm_leaky;
constinit const Algorithm algorithm_leaky = {
    .name = "LEAKY",
    .id = 3,
    .grammar = &kLeakyGrammar,
    .options_used = 0,
    .queues = true,
    .resized = plainly_resized,
    .same = same_leaky,
    .fresh = fresh_leaky,
    .decide = level_decide,
    .owed = level_owed,
    .refund = level_refund,
    .used = level_used,
    .reserve = reserve_leaky,
    .carry_over = carry_over_leaky,
    .expires_at_ns = level_expires_at_ns,
    .write_state = write_leaky,
    .read_state = read_leaky,
};

}  // namespace weir::algorithms
