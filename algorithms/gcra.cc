// GCRA: a greedy token bucket that remembers one instant.
//
// The idea. Do not store how many permits are left and when that was so; store the one instant at
// which the limiter will be full again, the theoretical arrival time (tat). A permit pushes it on
// by one interval, I = period / count. Nothing has to be refilled: time comes nearer by itself.
//
// Source: the generic cell rate algorithm of ATM networks, as virtual scheduling (ITU-T I.371).
//
//         now                tat                now + fill          fill = capacity * I
//     -----|------------------|-------------------|----------> time
//          |<---- offset ---->|<----- room ------>|
//            time until full    what may be taken
//
//     allowed         iff  cost * I <= room
//     remaining       =    floor(room / I)
//     retry_after     =    ceil(cost * I - room)
//     reset_after     =    ceil(offset)
//
// Worked: burst 4 (capacity 5), 1 per 10 s, at second 0. Five requests put tat at 10, 20 ... 50;
// remaining 4, 3 ... 0. The sixth needs 10 of a room of 0: retry in 10, full in 50. At second 10
// the offset is 40, the room 10: one is let in, tat becomes 60.
//
// What the simple version gets wrong.
//  a. I is seldom a whole number of nanoseconds. 3 per second is not one per 333,333,333 ns (that
//     drifts by 32 ms a year) and 600 million per second is not one per 1 ns (that is two thirds
//     too many). So tat is tat_ns + rem / rate_count, exactly; rate_count is count after reduction
//     to lowest terms. 30 per 60 s has rate_count 1, and its rem is always 0.
//  b. Capacity 1 has no room for the fraction of a permit that gathers within the nanosecond in
//     which it fills: 3 per second at capacity 1 is full at 333,333,333.3, but can be asked only
//     at ...334; starting anew from there loses 2/3 ns each time. So at capacity 1, and only
//     there, a tat that passed less than one nanosecond ago still counts (invariant 3). Asked at
//     every instant from new it then admits exactly 1 + floor(elapsed * count / period), as the
//     larger capacities do without help. In return, two takes may be I minus one nanosecond apart.
//  c. Clamping has to happen before a request is added, not after, else idle time is lent.
//
// Invariants
//  1. 0 <= tat_ns <= kInstantNsMax + kAheadNsMax and 0 <= rem < rate_count.
//  2. offset <= kAheadNsMax, so offset + fill fits 64 bits. Debt beyond it is refused as never.
//  3. A clamped offset is >= 0, or, at capacity 1 only, in (-1 ns, 0).
//  4. A decision divides only for `remaining`, and in 64 bits whenever the product fits.
//
// What a clock step does. A step back moves now away from tat: the limiter seems emptier by the
// step, nothing is handed out, and it recovers with time; the caller's instant never runs back, so
// this is a second line of defence. A step forward fills, at most to capacity.
#include "algorithms/gcra.h"

#include <algorithm>
#include <string>

#include "algorithms/adaptive.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/level.h"
#include "algorithms/wide.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

struct Gcra {
  int64_t tat_ns = 0;
  int64_t rem = 0;  // tat is tat_ns + rem / rate_count
};

Gcra gcra_of(const State& state) { return {state.words[0], state.words[1]}; }

void store_gcra(State& state, const Gcra& gcra) {
  state.words[0] = gcra.tat_ns;
  state.words[1] = gcra.rem;
}

State gcra_state(const Gcra& gcra) { return {.words = {gcra.tat_ns, gcra.rem}}; }

// A signed duration of ns + rem / rate_count, 0 <= rem < rate_count: the floor is in ns.
struct Exact {
  int64_t ns = 0;
  int64_t rem = 0;

  int64_t ceil() const { return ns + (rem > 0); }
};

Exact plus(const Limit& limit, Exact a, Exact b) {
  const int64_t rem = a.rem + b.rem;  // both below 2^59
  const bool carry = rem >= limit.rate_count;
  return {a.ns + b.ns + carry, carry ? rem - limit.rate_count : rem};
}

Exact minus(const Limit& limit, Exact a, Exact b) {
  const int64_t rem = a.rem - b.rem;
  const bool borrow = rem < 0;
  return {a.ns - b.ns - borrow, borrow ? rem + limit.rate_count : rem};
}

Exact fill_of(const Limit& limit) { return {limit.fill_ns, limit.fill_rem}; }

// Units are 1/rate_count ns.
int128 units_of(const Limit& limit, Exact exact) {
  return int128{exact.ns} * limit.rate_count + exact.rem;
}

// Makes units a duration; saturates above kAheadNsMax. REQUIRES: units >= 0.
Exact exact_of(const Limit& limit, uint128 units) {
  const auto den = static_cast<uint128>(limit.rate_count);
  if (units / den > uint128{kAheadNsMax}) return {kAheadNsMax, 0};
  return {static_cast<int64_t>(units / den), static_cast<int64_t>(units % den)};
}

// Answers permits * I; kAheadNsMax if that is longer.
Exact time_of(const Limit& limit, int64_t permits) {
  if (permits == 1) return {limit.interval_ns, limit.interval_rem};
  if (limit.rate_count == 1 && permits <= limit.capacity) return {permits * limit.interval_ns, 0};
  return exact_of(limit,
                  static_cast<uint128>(permits) * static_cast<uint128>(limit.rate_period_ns));
}

// Answers floor(room / I). REQUIRES: room >= 0.
int64_t permits_in(const Limit& limit, Exact room) {
  if (limit.rate_count == 1) return room.ns / limit.interval_ns;
  uint64_t units = 0;
  const auto den = static_cast<uint64_t>(limit.rate_count);
  if (!__builtin_mul_overflow(static_cast<uint64_t>(room.ns), den, &units) &&
      !__builtin_add_overflow(units, static_cast<uint64_t>(room.rem), &units)) {
    return static_cast<int64_t>(units / static_cast<uint64_t>(limit.rate_period_ns));
  }
  return static_cast<int64_t>(units_of(limit, room) / limit.rate_period_ns);
}

// Answers the time until full at `now_ns`, clamped (invariants 2 and 3).
Exact offset_at(const Limit& limit, Gcra gcra, int64_t now_ns) {
  const int64_t ahead_ns = gcra.tat_ns - now_ns;
  if (ahead_ns >= 0) [[likely]] {
    if (ahead_ns >= kAheadNsMax) return {kAheadNsMax, 0};
    return {ahead_ns, gcra.rem};
  }
  if (ahead_ns == -1 && gcra.rem > 0 && limit.capacity == 1) return {-1, gcra.rem};
  return {0, 0};
}

Gcra gcra_at(Exact offset, int64_t now_ns) { return {now_ns + offset.ns, offset.rem}; }

// The verdict is built where the caller wants it: copying it afterwards costs half a decision.
Verdict verdict_at(const Limit& limit, Exact offset, Outcome outcome) {
  const Exact room = minus(limit, fill_of(limit), offset);
  return {.allowed = outcome.retry_after_ns == 0,
          .limit = limit.capacity,
          .remaining = room.ns < 0 ? 0 : permits_in(limit, room),
          .retry_after_ns = outcome.retry_after_ns,
          .reset_after_ns = offset.ceil(),
          .changed = outcome.changed};
}

Verdict decide_gcra(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  const Exact offset = offset_at(limit, gcra_of(state), now_ns);
  if (request.cost == 0) return verdict_at(limit, offset, {});
  if (request.cost > limit.capacity && !request.force) {
    return verdict_at(limit, offset, {.retry_after_ns = kNever});
  }

  const Exact cost_time = time_of(limit, request.cost);
  if (request.force && cost_time.ns > kAheadNsMax - 1 - offset.ns) {  // invariant 2
    return verdict_at(limit, offset, {.retry_after_ns = kNever});
  }
  const Exact next = plus(limit, offset, cost_time);
  const Exact left = minus(limit, fill_of(limit), next);
  if (left.ns < 0 && !request.force) {
    return verdict_at(limit, offset, {.retry_after_ns = -left.ns});
  }
  if (!request.peek) store_gcra(state, gcra_at(next, now_ns));
  return verdict_at(limit, next, {.changed = !request.peek});
}

int64_t owed_gcra(const Limit& limit, const State& state, const Request& request) {
  const int128 over = units_of(
      limit, minus(limit, offset_at(limit, gcra_of(state), request.now_ns), fill_of(limit)));
  return over <= 0 ? 0 : static_cast<int64_t>(ceil_divide(over, limit.rate_period_ns));
}

int64_t used_gcra(const Limit& limit, const State& state, int64_t now_ns) {
  const Exact offset = offset_at(limit, gcra_of(state), now_ns);
  return offset.ns < 0 ? 0 : permits_in(limit, offset);
}

Verdict refund_gcra(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  const Exact offset = offset_at(limit, gcra_of(state), now_ns);
  if (refund.permits == 0 || offset.ceil() <= 0) return verdict_at(limit, offset, {});

  Exact next = minus(limit, offset, time_of(limit, refund.permits));
  if (next.ns < 0) next = {0, 0};
  store_gcra(state, gcra_at(next, now_ns));
  return verdict_at(limit, next, {.changed = true});
}

Booking reserve_gcra(const Limit& limit, State& state, const Reserve& reserve) {
  WEIR_REQUIRE(reserve.cost >= 0);
  if (reserve.cost == 0) return {.granted = true};
  if (reserve.cost > limit.capacity) return {.wait_ns = kNever};
  const int64_t now_ns = clamp_instant(reserve.now_ns);
  const Exact offset = offset_at(limit, gcra_of(state), now_ns);
  const Exact cost_time = time_of(limit, reserve.cost);
  if (cost_time.ns > kAheadNsMax - 1 - offset.ns) return {.wait_ns = kNever};  // invariant 2
  const Exact next = plus(limit, offset, cost_time);
  const int64_t wait_ns = std::max<int64_t>(0, -minus(limit, fill_of(limit), next).ns);
  if (wait_ns > reserve.max_wait_ns) return {.wait_ns = wait_ns};
  store_gcra(state, gcra_at(next, now_ns));
  return {.granted = true, .wait_ns = wait_ns, .changed = true};
}

// Fractions of a permit are kept to 1/rate_count ns of the new limit, rounded against the client.
State carry_over_gcra(const Limit& from, const Limit& to, const State& state,
                      const Change& change) {
  const int64_t now_ns = clamp_instant(change.now_ns);
  Exact offset = offset_at(from, gcra_of(state), now_ns);
  if (offset.ns < 0) offset = {0, 0};
  const auto units = static_cast<uint128>(units_of(from, offset));
  return gcra_state(gcra_at(exact_of(to, carried_units(from, to, units, change.mode)), now_ns));
}

bool same_gcra(const Limit& a, const Limit& b) {
  return a.capacity == b.capacity && a.rate_count == b.rate_count &&
         a.rate_period_ns == b.rate_period_ns;
}

State fresh_gcra(const Limit&, int64_t now_ns) {
  return gcra_state(Gcra{.tat_ns = clamp_instant(now_ns)});
}

// At capacity 1 the instant that has just passed still counts for one nanosecond (b. above).
int64_t expires_gcra(const Limit& limit, const State& state) {
  const auto gcra = gcra_of(state);
  if (gcra.rem == 0) return gcra.tat_ns;
  return gcra.tat_ns + 1 + (limit.capacity == 1);
}

// DO NOT CHANGE: on disk.
void write_gcra(const Limit& limit, const State& state, Writer& out) {
  const auto gcra = gcra_of(state);
  out.fixed64(static_cast<uint64_t>(gcra.tat_ns));
  if (limit.rate_count > 1) out.varint(static_cast<uint64_t>(gcra.rem));
}

bool read_gcra(const Limit& limit, Reader& in, State& state) {
  const uint64_t tat_ns = in.fixed64();
  const uint64_t rem = limit.rate_count > 1 ? in.varint() : 0;
  if (!in.ok() || tat_ns > static_cast<uint64_t>(kInstantNsMax + kAheadNsMax)) return false;
  if (rem >= static_cast<uint64_t>(limit.rate_count)) return false;
  store_gcra(state, Gcra{.tat_ns = static_cast<int64_t>(tat_ns), .rem = static_cast<int64_t>(rem)});
  return true;
}

// GCRA count/period [BURST b | CAPACITY c]: two names of one value, the latter counts one more
constexpr Option kGcraOptions[] = {{.name = "BURST", .left_out = "count - 1"},
                                   {.name = "CAPACITY", .left_out = "BURST + 1"}};
Result<void, RangeError> gcra_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  const auto burst = written.values[0], capacity = written.values[1];
  if (burst && capacity) {
    return RangeError{"CAPACITY", std::to_string(*capacity),
                      "left out beside BURST: CAPACITY c is BURST c - 1"};
  }
  if (capacity) {
    if (*capacity < 1 || *capacity > kCapacityMax) {
      return RangeError{"CAPACITY", std::to_string(*capacity), between(1, kCapacityMax)};
    }
    spec.capacity = *capacity;
  }
  if (!burst) return {};
  if (*burst < 0 || *burst >= kCapacityMax) {
    return RangeError{"BURST", std::to_string(*burst), between(0, kCapacityMax - 1)};
  }
  spec.capacity = *burst + 1;
  return {};
}
Written gcra_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.capacity - 1, limit.count - 1);
  return written;
}
constexpr Grammar kGcraGrammar = {Grammar::Rate::kPerPeriod, kGcraOptions, gcra_spec, gcra_written};

}  // namespace

constinit const Algorithm algorithm_gcra = {
    .name = "GCRA",
    .id = 1,
    .grammar = &kGcraGrammar,
    .options_used = 0,
    .resized = plainly_resized,
    .same = same_gcra,
    .fresh = fresh_gcra,
    .decide = decide_gcra,
    .owed = owed_gcra,
    .refund = refund_gcra,
    .used = used_gcra,
    .reserve = reserve_gcra,
    .carry_over = carry_over_gcra,
    .expires_at_ns = expires_gcra,
    .write_state = write_gcra,
    .read_state = read_gcra,
};

Result<Limit, RangeError> gcra_limit_from_throttle(const ThrottleArgs& args) {
  if (args.max_burst < 0 || args.max_burst >= kCapacityMax) {
    return RangeError{"max_burst", std::to_string(args.max_burst), between(0, kCapacityMax - 1)};
  }
  if (args.count < 1) return RangeError{"count", std::to_string(args.count), "at least 1"};
  if (args.period_s < 1 || args.period_s > kPeriodNsMax / kNsPerS) {
    return RangeError{"period", std::to_string(args.period_s),
                      between(1, kPeriodNsMax / kNsPerS) + " seconds"};
  }
  return make_limit({.algorithm = &algorithm_gcra,
                     .count = args.count,
                     .period_ns = args.period_s * kNsPerS,
                     .capacity = args.max_burst + 1});
}

std::optional<State> gcra_state_from_tat(const ForeignTat& foreign) {
  const int64_t now_ns = clamp_instant(foreign.now_ns);
  if (foreign.tat_ns < 0 || foreign.tat_ns > now_ns + kForeignTatNsMax) return std::nullopt;
  if (foreign.tat_ns < now_ns - kForeignTatNsMax) return std::nullopt;
  return gcra_state(Gcra{.tat_ns = foreign.tat_ns});
}

}  // namespace weir::algorithms
