// All or nothing: one request guarded by several limits, of one key or of several.
//
// It must not leave one limit charged and another not: states and entries change only when all
// allow.
#pragma once

#include <span>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

// One limit and what it is asked for. `verdict` is filled in: when the whole is granted it is that
// of the charge, when it is denied it is the limit's own uncharged one. Whoever keeps the state
// writes it where verdict.changed, which a denial sets too if the state was seen for the first time
// and is one that has to be remembered.
struct Guard {
  const Limit* limit = nullptr;
  State* state = nullptr;      // no two guards share one
  Entries* entries = nullptr;  // the state's, where Algorithm::uses_entries; likewise not shared
  int64_t cost = 1;            // with upto, what was charged in the end, or asked for
  Verdict verdict{};
};

struct AllRequest {
  int64_t now_ns = 0;
  bool upto = false;     // grant each limit the same g, the most that all have; see AllVerdict
  bool force = false;    // take in any case; REQUIRES: every limit can_force, and not upto
  bool peek = false;     // the verdict alone; nothing is charged
  int64_t lease_id = 0;  // of the lease that every CONCURRENCY limit among them makes
};

struct AllVerdict {
  bool allowed = false;
  // Denied: the longest wait, ties to the first. Allowed: the least remaining, ties to the first.
  size_t deciding = 0;
  // With upto: g = min(cost, the remaining of every limit but those of any_cost), charged to all;
  // 0 is a denial whose verdicts are those of one permit (unless the cost was 0). Else 0.
  int64_t granted = 0;
};

// REQUIRES: guards is not empty; with upto all costs are the same.
AllVerdict take_all(std::span<Guard> guards, const AllRequest& request);

}  // namespace weir::algorithms
