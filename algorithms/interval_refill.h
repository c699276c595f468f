// The other refill of TOKENBUCKET: `count` permits at once at the end of each period, instead of
// one by one. token_bucket.cc has the design.
//
// It must not know how a greedy bucket is kept.
//
// Invariants of every state
//  1. level <= capacity, and from level to full it is at most kAheadNsMax of whole periods; debt
//     beyond it is refused as never.
//  2. While the bucket is not full, grid_ns is the last instant of its grid that was counted.
//  3. The last word of a State is as in level.h.
#pragma once

#include "algorithms/algorithm.h"

namespace weir::algorithms {

struct IntervalLevel {
  int64_t level = 0;  // available permits; negative in debt
  int64_t grid_ns = 0;
};

State interval_state(const IntervalLevel& interval, bool unseen);
// Settles a state: all refills up to an instant within the range are counted.
IntervalLevel interval_at(const Limit& limit, const State& state, int64_t now_ns);

// Answers the lowest level that a state may have.
int64_t interval_level_min(const Limit& limit);

// The next functions are those of the descriptor.
Result<void, RangeError> interval_check(const Limit& limit);
Verdict interval_decide(const Limit& limit, State& state, const Request& request);
int64_t interval_owed(const Limit& limit, const State& state, int64_t now_ns);
Verdict interval_refund(const Limit& limit, State& state, const Refund& refund);
int64_t interval_expires_at_ns(const Limit& limit, const State& state);
void interval_write(const State& state, Writer& out);
bool interval_read(const Limit& limit, Reader& in, State& state);

}  // namespace weir::algorithms
