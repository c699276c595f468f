// All or nothing: one request that several limits guard, of one key or of several keys.
//
// Enforced limits decide, those of all keys together. Limits in shadow only say what they would:
// they are asked for what the enforced ones grant, after those, and charged all or none among those
// of their key. The limits of a key that are all in shadow decide about themselves as enforced ones
// would, and it is the caller who lets pass.
//
// It must not leave one limit charged and another not: the states and entries of either kind
// change only when all of it allow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

enum class Mode : uint8_t { kEnforced, kShadow };

// One limit and the cost that is asked of it. take_all() fills in `verdict`: if the request is
// granted it is the verdict of the charge. If denied it is the limit's own verdict without a
// charge, and for a limit that would have granted the request it is that of cost 0. A debt is a
// `remaining` below 0. The caller writes the state where verdict.changed is set. A denial sets it,
// too, if the state was seen for the first time and has to be remembered.
struct Guard {
  const Limit* limit = nullptr;
  State* state = nullptr;  // no two guards share one
  // The entries of the state, where Algorithm::uses_entries; likewise not shared.
  Entries* entries = nullptr;
  // What is asked for. With upto it becomes what was charged; so it does in shadow, if others are
  // enforced, and where all limits of a key would grant what is denied.
  int64_t cost = 1;
  Mode mode = Mode::kEnforced;
  Verdict verdict{};
  State charged{};  // of take_all() itself: a copy of the state, charged until all have allowed
};

struct AllRequest {
  int64_t now_ns = 0;
  bool upto = false;     // grants each limit the same g, the most that all have; see AllVerdict
  bool force = false;    // takes in any case; REQUIRES: not upto
  bool peek = false;     // answers the verdict alone; nothing is charged
  int64_t lease_id = 0;  // of one key: as KeyGuards::lease_id
  const WallClock* wall = &kTrueWallClock;
  bool refused = false;  // something else denies the request, whatever the limits say
};

// Of the enforced limits of a key, or of all if none is enforced.
struct AllVerdict {
  bool allowed = false;  // they allow; whether they were charged depends on the other keys, too
  // The guard whose verdict speaks for the key. Denied: the longest wait, ties to the first.
  // Allowed: the least remaining, ties to the first.
  size_t deciding = 0;
  // With upto: g = min(cost, the remaining of every limit but those of any_cost), of all keys where
  // limits are enforced, else of this one; it was charged to all. 0 is a denial whose verdicts are
  // those of one permit (unless the cost was 0). Without upto: 0.
  int64_t granted = 0;
  // Of the limits in shadow beside enforced ones that allow: the guard that decides, if they deny.
  std::optional<size_t> shadow_denier = {};
};

// One key of a request.
struct KeyGuards {
  std::span<Guard> guards;  // at least one
  int64_t lease_id = 0;     // the lease that every CONCURRENCY limit among them makes
  AllVerdict verdict = {};  // the answer
};

// What came of a request.
struct Taken {
  bool allowed = false;  // it was charged to the enforced limits of all keys
  // With upto: g as the enforced limits have it; nothing where none is enforced.
  std::optional<int64_t> granted = {};
};

// REQUIRES: with upto all costs are the same.
Taken take_all(std::span<KeyGuards> keys, const AllRequest& request);
// The same for one key. REQUIRES: the request is not refused.
AllVerdict take_all(std::span<Guard> guards, const AllRequest& request);

}  // namespace weir::algorithms
