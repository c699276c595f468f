// SLIDINGCOUNTER: two counters that stand for a sliding window.
//
// The idea. Count per window of the epoch grid, keep the count of the window before, and suppose
// that what was taken then was spread evenly: of the previous window, the share that a window
// ending now still covers counts.
//
// Source: Cloudflare's rate limiting (J. Desgats, How We Built Rate Limiting Capable of Scaling to
// Millions of Domains, 2017).
//
//          previous             current
//     |----------------|------------|.....|------> time
//              |<------ one period ->|
//              |<- weight ->|<elapsed>
//
//     used         =    previous * (period - elapsed) / period + current
//     allowed      iff  used + cost <= count
//     remaining    =    floor(count - used)
//     retry_after  :    used falls with time, along a straight line in each window: solved exactly
//     reset_after  =    until both counters are out of sight
//
// Worked: 10 per 10 s, 10 taken at second 9 of a window. Two seconds later, one second into the
// next, 10 * 9/10 = 9 count: one permit is there, and the next comes with second 2.
//
// What the simple version gets wrong.
//  a. A floating-point share lets the last permit through a moment too early or too late. Here both
//     sides are multiplied by the period: previous * (period - elapsed) + (current + cost) * period
//     <= count * period, in integers.
//  b. The wait is guessed as "until the next window". It is the instant at which the line above
//     crosses, which may lie in this window, in the next, or at the beginning of the one after.
//
// The surprising consequence. The even spread is a guess, and a client that knows it can beat it:
// take count just before a boundary, then one permit whenever the share falls by one. At most 2 *
// count - 1 pass within a period, where FIXED lets 2 * count pass within a moment and SLIDINGLOG
// never more than count.
//
// Invariants
//  1. 0 <= index <= kInstantNsMax / period; previous and current are >= 0, at most kCapacityMax.
//  2. A state without counts is that of a fresh limiter, whatever its index.
//  3. Products are of 64 bits where they fit, of 128 where not; none is rounded but the verdict's.
//
// What a clock step does. Back: the window that was entered stays, at its first instant, until the
// clock has caught up. Forward: the counters age by as much.
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/wide.h"
#include "base/check.h"

namespace weir::algorithms {

extern const Algorithm algorithm_sliding_counter;

namespace {

struct Counters {
  int64_t index = 0;  // the window of `current`, counted in periods since the epoch
  int64_t previous = 0;
  int64_t current = 0;
};

Counters counters_of(const State& state) {
  return {state.words[0], state.words[1], state.words[2]};
}

State counters_state(const Counters& counters) {
  if (counters.previous == 0 && counters.current == 0) return {};
  return {.words = {counters.index, counters.previous, counters.current}};
}

// The counters as they stand at an instant, which is `elapsed_ns` into the window of `current`.
struct CounterSight {
  Counters counters;
  int64_t elapsed_ns = 0;
  int64_t behind_ns = 0;  // how late the clock is for the window; mostly 0
};

CounterSight sight_at(const Limit& limit, Counters counters, int64_t now_ns) {
  const int64_t index = now_ns / limit.period_ns;
  const bool none = counters.previous == 0 && counters.current == 0;
  if (index < counters.index && !none) {
    return {counters, 0, counters.index * limit.period_ns - now_ns};
  }
  const int64_t elapsed_ns = now_ns - index * limit.period_ns;
  if (index == counters.index) return {counters, elapsed_ns, 0};
  const int64_t previous = index - 1 == counters.index ? counters.current : 0;
  return {{index, previous, 0}, elapsed_ns, 0};
}

// Answers floor or ceil of a * b / divisor. REQUIRES: a, b >= 0, divisor > 0, and the result fits.
int64_t mul_div(int64_t a, int64_t b, int64_t divisor, bool up) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) {
    return product / divisor + (up && product % divisor != 0);
  }
  const int128 wide = int128{a} * b;
  return static_cast<int64_t>(wide / divisor) + (up && wide % divisor != 0);
}

// Answers the whole permits that the previous window still holds, rounded up.
int64_t share_of(const Limit& limit, const CounterSight& sight) {
  const int64_t previous = sight.counters.previous;
  if (previous == 0) return 0;
  return mul_div(previous, limit.period_ns - sight.elapsed_ns, limit.period_ns, true);
}

// Answers how far into a window, with `previous` before it, the share has fallen to `share`,
// exactly.
int64_t elapsed_when(const Limit& limit, int64_t previous, int64_t share) {
  if (share >= previous) return 0;
  return limit.period_ns - mul_div(share, limit.period_ns, previous, false);
}

// Answers when a cost is allowed, from the first instant of the window of `current` on. REQUIRES:
// cost <= count.
int64_t allowed_when(const Limit& limit, const Counters& counters, int64_t cost) {
  const int64_t room = limit.count - cost;
  if (counters.current <= room) {
    return elapsed_when(limit, counters.previous, room - counters.current);
  }
  return limit.period_ns + elapsed_when(limit, counters.current, room);
}

int64_t gone_when(const Limit& limit, const Counters& counters) {
  if (counters.current > 0) return 2 * limit.period_ns;
  return counters.previous > 0 ? limit.period_ns : 0;
}

Verdict verdict_at(const Limit& limit, const CounterSight& sight) {
  const int64_t used = share_of(limit, sight) + sight.counters.current;
  const int64_t gone_ns = gone_when(limit, sight.counters);
  return {.allowed = true,
          .limit = limit.capacity,
          .remaining = std::max<int64_t>(0, limit.count - used),
          .retry_after_ns = 0,
          .reset_after_ns = gone_ns == 0 ? 0 : gone_ns - sight.elapsed_ns + sight.behind_ns,
          .changed = false};
}

Verdict decide_counter(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  CounterSight sight = sight_at(limit, counters_of(state), clamp_instant(request.now_ns));
  const Verdict plain = verdict_at(limit, sight);
  if (request.cost == 0) return plain;
  const int64_t most = request.force ? kCapacityMax - sight.counters.current : limit.count;
  if (request.cost > most) return denied(plain, kNever);
  if (request.cost > plain.remaining && !request.force) {
    const int64_t when_ns = allowed_when(limit, sight.counters, request.cost);
    return denied(plain, when_ns - sight.elapsed_ns + sight.behind_ns);
  }
  sight.counters.current += request.cost;
  if (!request.peek) state = counters_state(sight.counters);
  Verdict taken = verdict_at(limit, sight);
  taken.changed = !request.peek;
  return taken;
}

int64_t owed_counter(const Limit& limit, const State& state, const Request& request) {
  const CounterSight sight = sight_at(limit, counters_of(state), request.now_ns);
  return std::max<int64_t>(0, share_of(limit, sight) + sight.counters.current - limit.count);
}

// A permit of the previous window gives back the part of it that still counts.
Verdict refund_counter(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  CounterSight sight = sight_at(limit, counters_of(state), clamp_instant(refund.now_ns));
  Counters& counters = sight.counters;
  const int64_t from_current = std::min(refund.permits, counters.current);
  const int64_t from_previous = std::min(refund.permits - from_current, counters.previous);
  if (from_current + from_previous == 0) return verdict_at(limit, sight);

  counters.current -= from_current;
  counters.previous -= from_previous;
  state = counters_state(counters);
  Verdict given = verdict_at(limit, sight);
  given.changed = true;
  return given;
}

// The charge is that of its window, which may be the previous one by now, or be over.
Verdict settle_counter(const Limit& limit, State& state, const Settle& settle) {
  CounterSight sight = sight_at(limit, counters_of(state), clamp_instant(settle.now_ns));
  const Verdict plain = verdict_at(limit, sight);
  const int64_t more = settle.used - settle.charged;
  if (more == 0 || (settle.kept == nullptr && more < 0)) return plain;
  Counters& counters = sight.counters;
  int64_t index = counters.index;
  if (settle.kept != nullptr) {
    index = sight_at(limit, counters_of(*settle.kept), clamp_instant(settle.charged_at_ns))
                .counters.index;
  }
  if (index < counters.index - 1) return plain;
  int64_t& count = index == counters.index - 1 ? counters.previous : counters.current;
  if (more > kCapacityMax - count) return denied(plain, kNever);
  count = std::max<int64_t>(0, count + more);
  Verdict settled = verdict_at(limit, sight);
  settled.changed = !settle.peek;
  if (settled.changed) state = counters_state(counters);
  return settled;
}

// With the period unchanged the counters go on. On another grid the used permits, rounded up, count
// as if taken now: they fade over the next new window.
State carry_over_counter(const Limit& from, const Limit& to, const State& state,
                         const Change& change) {
  const int64_t now_ns = clamp_instant(change.now_ns);
  const CounterSight sight = sight_at(from, counters_of(state), now_ns);
  if (from.period_ns == to.period_ns) return counters_state(sight.counters);
  const int64_t used = share_of(from, sight) + sight.counters.current;
  const int64_t at_ns = std::min(now_ns + sight.behind_ns, kInstantNsMax);
  return counters_state({at_ns / to.period_ns, 0, std::min(used, kCapacityMax)});
}

Result<void, RangeError> check_counter(const Limit& limit) {
  return check_count(limit, kCapacityMax);
}

void derive_counter(Limit& limit) { limit.capacity = limit.count; }

bool same_counter(const Limit& a, const Limit& b) {
  return a.count == b.count && a.period_ns == b.period_ns;
}

State fresh_counter(const Limit&, int64_t) { return {}; }

int64_t expires_counter(const Limit& limit, const State& state) {
  const Counters counters = counters_of(state);
  return counters.index * limit.period_ns + gone_when(limit, counters);
}

// DO NOT CHANGE: on disk.
void write_counter(const Limit&, const State& state, Writer& out) {
  const Counters counters = counters_of(state);
  out.varint(static_cast<uint64_t>(counters.index));
  out.varint(static_cast<uint64_t>(counters.previous));
  out.varint(static_cast<uint64_t>(counters.current));
}

bool read_counter(const Limit& limit, Reader& in, State& state) {
  const uint64_t index = in.varint(), previous = in.varint(), current = in.varint();
  if (!in.ok() || index > static_cast<uint64_t>(kInstantNsMax / limit.period_ns)) return false;
  const auto most = static_cast<uint64_t>(kCapacityMax);
  if (previous > most || current > most) return false;
  state = counters_state(
      {static_cast<int64_t>(index), static_cast<int64_t>(previous), static_cast<int64_t>(current)});
  return true;
}

// SLIDINGCOUNTER count/period
constexpr Grammar kSlidingCounterGrammar = {Grammar::Rate::kPerPeriod, {}, plain_spec, rate_of};

}  // namespace

constinit const Algorithm algorithm_sliding_counter = {
    .name = "SLIDINGCOUNTER",
    .id = 7,
    .grammar = &kSlidingCounterGrammar,
    .options_used = 0,
    .check = check_counter,
    .derive = derive_counter,
    .same = same_counter,
    .fresh = fresh_counter,
    .decide = decide_counter,
    .owed = owed_counter,
    .refund = refund_counter,
    .settle = settle_counter,
    .carry_over = carry_over_counter,
    .expires_at_ns = expires_counter,
    .write_state = write_counter,
    .read_state = read_counter,
};

}  // namespace weir::algorithms
