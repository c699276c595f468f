// A charge that was an estimate becomes what was really used.
//
//     take  100            settle 30: as if it had been a take of 30
//       |------ held --------|
//
// Whoever holds a charge keeps of it the instant, the permits and a state (kept_state), and of a
// bucket how little was in use since (low_water.h). settle() then gives back the rest, or takes the
// missing permits, into debt if need be.
//
// It must not know who holds a charge, nor until when.
//
// Laws. `as if` is a take by force of what was used, at the instant of the charge.
//  1. With nothing in between, the state is that of as if, at any instant. (A log's may hold other
//     entries; no verdict tells.)
//  2. No later request is granted more than as if, but for these:
//     WARMUP                     what is given back after other requests is so many intervals, and
//                                the service stays as warm as it was
//     FIXED with ALIGN FIRST     a window that began with a charge, of which nothing was used, goes
//                                on if it has others: it ends earlier than theirs would have
//     A bucket (GCRA, TOKENBUCKET, LEAKY, BURSTY) gives back whole permits, and no more than were
//     in use at any instant since: what as if would have lost by being full is lost.
//  3. A window that is over takes neither a rest nor more: the charge was its own.
//  4. So whatever is settled, what was used keeps to the limit's formula: taken by force when it
//     was charged, none of it would have been denied (tests/algorithms/give_back_laws_test.cc).
#pragma once

#include "algorithms/algorithm.h"

namespace weir::algorithms {

// Answers the state to keep of a charge, of those before and after it: for an algorithm whose
// charges belong to windows that which names the window, else that from which to charge anew.
inline const State& kept_state(const Limit& limit, const State& before, const State& after) {
  return limit.algorithm->settle != nullptr ? after : before;
}

// Tells whether the state is as the charge left it. It may be so, too, where what was charged later
// has taken the place of what came back: nobody who can know it better should ask. False where
// charges belong to windows, which need no answer.
bool is_as_charged(const Limit& limit, const State& state, const Settle& settle);

// Settles a charge; answers the verdict of cost 0 after it. A denial is kNever, where the state
// cannot hold so large a debt; then nothing has changed. REQUIRES: the limit makes no leases: those
// are released.
Verdict settle(const Limit& limit, State& state, const Settle& settle);

}  // namespace weir::algorithms
