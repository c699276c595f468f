// A level that drains at a constant rate: the permits taken that have not come back yet. For
// TOKENBUCKET it is what is missing from full, for LEAKY the water in the funnel.
//
// Source: the continuous-state leaky bucket of ITU-T I.371, which gives GCRA's verdicts.
//
//     used
//     full |- - - - - - - - - - - - - - - - -    full = capacity permits
//          |      /|\          /|
//          |     / | \   /|   / |                a permit lifts it by one,
//          |    /  |  \ / |  /  |                time lowers it by count / period
//        0 +---+---+---+--+-+---+-------> time
//
//     allowed         iff  used + cost <= full
//     remaining       =    floor(full - used)
//     retry_after     =    ceil((used + cost - full) * period / count)
//     reset_after     =    ceil(used * period / count)
//
// It is counted in units of 1/rate_period_ns permits. A nanosecond then brings back rate_count
// units and a permit is rate_period_ns of them: whole numbers both, so nothing is rounded, neither
// after a second nor after a year. The simple version keeps permits and a time: it drops the
// fraction of a permit each time it is asked, and a limiter asked often enough never refills.
//
// Invariants
//  1. 0 <= used <= kAheadNsMax * rate_count in every state; debt beyond it is refused as never.
//  2. Settled at an instant, used is >= 0, except at capacity 1, where it may be above -rate_count:
//     a bucket of one permit has no room for the fraction that gathers within the nanosecond in
//     which it fills, and would lose it at every turn (gcra.cc, b.).
//  3. The last word of a State is 1 until a first look that has to be written was reported as
//     changed. It is not stored. A request that is denied for ever is no first look.
//
// A step of the clock backwards lifts the level by what had drained since: nothing is handed out,
// and it is as if it had not happened once the clock is where it was. A step forward drains.
#pragma once

#include "algorithms/algorithm.h"
#include "algorithms/wide.h"

namespace weir::algorithms {

struct Level {
  int128 used = 0;
  int64_t at_ns = 0;
};

inline int128 full_units(const Limit& limit) {
  return int128{limit.capacity} * limit.rate_period_ns;
}

// What a decision tells beside the level: here, in gcra.cc and in interval_refill.cc.
struct Outcome {
  int64_t retry_after_ns = 0;  // 0: allowed
  bool changed = false;
};

State level_state(const Level& level, bool unseen);
Level level_of(const State& state);
// Tells whether a first look has to be reported as changed, and reports it once (invariant 3).
inline bool take_unseen(State& state) {
  const bool unseen = state.words[3] != 0;
  state.words[3] = 0;
  return unseen;
}

// Answers what is used at an instant within the range (invariant 2).
int128 used_at(const Limit& limit, const Level& level, int64_t now_ns);

// The next functions are those of the descriptor.
Verdict level_decide(const Limit& limit, State& state, const Request& request);
int64_t level_owed(const Limit& limit, const State& state, const Request& request);
int64_t level_used(const Limit& limit, const State& state, int64_t now_ns);
Verdict level_refund(const Limit& limit, State& state, const Refund& refund);
Booking level_reserve(const Limit& limit, State& state, const Reserve& reserve);
int64_t level_expires_at_ns(const Limit& limit, const State& state);

// Answers what is used under `to` when `used` was used under `from`, both in units of
// 1/rate_period_ns permits of their limit, which are also GCRA's 1/rate_count ns. The result is
// rounded up to a unit. Never called with kReset.
//   kUsed          used_new = used_old, so the difference of the capacities is available, or owed
//   otherwise      available_new as `mode` says, used_new = max(0, capacity_new - available_new)
uint128 carried_units(const Limit& from, const Limit& to, uint128 used, CarryOver mode);
// Answers the same, but never more than a state may hold.
int128 carried_used(const Limit& from, const Limit& to, int128 used, CarryOver mode);

// Writes permits and a remainder in 1/rate_period_ns, as a level is stored. DO NOT CHANGE: on disk.
void write_units(const Limit& limit, int128 units, Writer& out);
bool read_units(const Limit& limit, Reader& in, int128& units);
// Writes a fixed64, within the range of instants.
void write_instant(int64_t at_ns, Writer& out);
bool read_instant(Reader& in, int64_t& at_ns);
// Tells whether invariant 1 holds for a level that was read.
bool holds_level(const Limit& limit, const Level& level);

}  // namespace weir::algorithms
