// The log of grants that SLIDINGLOG and SLIDINGWINDOW share: which permits were granted when, kept
// as Entries. From it follows what is used, what is left and when enough comes back.
//
// Every entry holds the sum of all permits granted *before* it. With sums every question is a
// binary search, whatever the number of entries:
//
//     entries      @100:0      @130:3      @170:4                 total 9
//     granted           3           1           5                 (the next sum - its own)
//     used at 120 + hold   =  total - sum of the first entry younger than 120  =  9 - 3  =  6
//
// It must not walk the entries, and changes them only together with State.
//
// Invariants
//  1. Grants are stamped in rising order; those of one stamp are one entry, whose id is its stamp.
//  2. Sums are taken modulo 2^64 and only compared by their distance to the total.
//  3. A grant removes at most kPrunedMax entries that count no more. Entries that count no more and
//     have not been removed yet change no verdict.
//  4. A refund takes the newest grants back first, so no sum of an older entry changes.
//  5. A permit granted at s counts until s + hold_ns, that instant excluded.
#pragma once

#include <cstdint>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

// How a limit reads its log.
struct GrantRules {
  int64_t count = 0;
  int64_t hold_ns = 0;
  int64_t width_ns = 1;    // stamps are multiples of it
  int64_t per_bucket = 0;  // the most per stamp; 0 is no such limit
};

inline constexpr int kPrunedMax = 64;
inline constexpr size_t kSumsMovedMax = 1'024;

Verdict decide_by_log(const GrantRules& rules, State& state, const Request& request);
int64_t owed_to_log(const GrantRules& rules, const State& state, const Entries* entries,
                    int64_t now_ns);
Verdict refund_to_log(const GrantRules& rules, State& state, const Refund& refund);

// Changes what was granted at the stamp of a charge: the sums of younger entries move. Where more
// than kSumsMovedMax are younger, what is given back is taken from the oldest grants that count, so
// it does not come back a second time when they do; and what was used in addition counts as granted
// now. Neither grants more than the exact change would.
Verdict settle_in_log(const GrantRules& rules, State& state, const Settle& settle);

// How the log changes with the limit. Used permits stay used. With the width unchanged each grant
// keeps its instant; with another width all of them come back together, as if granted now.
struct GrantChange {
  GrantRules from;
  GrantRules to;
  int64_t now_ns = 0;
};
State carry_over_log(const GrantChange& change, const State& state, const Entries& entries);

int64_t log_expires_at_ns(const GrantRules& rules, const State& state);

// DO NOT CHANGE: on disk. At most 48 bytes.
void write_grants(const State& state, Writer& out);
bool read_grants(Reader& in, State& state);

}  // namespace weir::algorithms
