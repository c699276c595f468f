// A simulated queue: what a limiter will be like when all in its queue have been served, and when
// that will be. It is a simulation over the limiter as it is, from which a newcomer learns its
// place without walking the queue.
//
// It must not change the key. An event out of turn (a refund, a client that leaves the middle of
// the queue) makes it stale; the code that notices such an event throws it away.
//
// Invariants
// 1. States are copies; entries are overlays (entries/overlay_entries.h), because a log may be
//    long.
// 2. It has at most kCopiesMax limits. Who waits names the limits that the key has, as a rule.
//    Where very many name each their own, those that came first are given up, and are met anew as
//    unused limits.
// 3. Before it is used in another command it is attached to that command's key; if it has entries,
//    they are the same as when it was made.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/take_all.h"
#include "server/limiter/entries/overlay_entries.h"
#include "server/limiter/take/limiter.h"
#include "server/limiter/take/policy_effect.h"

namespace weir::server {

class SimulatedQueue {
 public:
  // Begins with the limiter as it is now, and an empty queue.
  SimulatedQueue(Call& call, Limiter& limiter);
  SimulatedQueue(const SimulatedQueue&) = delete;
  SimulatedQueue& operator=(const SimulatedQueue&) = delete;

  // Answers about how much memory it takes, as far as one waiter has made it so large.
  static size_t memory_bytes(size_t limits);

  // To be called in each command that uses it after the one that made it.
  void attach(Call& call);
  // Tells whether it is good only as long as the entries of the key stay as they are.
  bool has_entries() const;

  struct Place {
    int64_t at_ns = 0;       // when the request will have been served; kNever
    int64_t full_at_ns = 0;  // when the deciding limit would be full without it; kNever
    algorithms::Verdict verdict;
    size_t index = 0;
    const algorithms::Algorithm* algorithm = nullptr;  // of the deciding limit
    size_t looks = 0;  // at limits, until this was known: work units
  };
  // Adds one more request. Answers how many looks at limits that took: work units. Who asks for
  // the same limits as the one before costs the least.
  size_t join(const DecidingPart& request, int64_t now_ns);
  // Answers where one more request would stand, and changes nothing.
  Place look(const DecidingPart& request, int64_t now_ns) const;

 private:
  struct Copy {
    algorithms::Limit limit;
    algorithms::State state;
    storage::ElementsId list = 0;                      // the list of its entries; 0: none
    std::unique_ptr<algorithms::Entries> stored = {};  // what that list holds
    OverlayEntries entries = OverlayEntries();
  };
  SimulatedQueue() = default;
  static constexpr size_t kCopiesMax = 128;

  // The copy of a limit; `number` tells equal limits apart.
  Copy& copy_of(const algorithms::Limit& limit, size_t number);
  // Room for one more copy, which is not one of the guards'.
  Copy& new_copy();
  void name(const DecidingPart& request);
  Place take();

  std::deque<Copy> copies_;                // a deque, because guards and overlays point into it
  size_t given_up_ = 0;                    // how many copies were
  std::vector<algorithms::Guard> guards_;  // of the request that has joined last
  int64_t at_ns_ = 0;
  const WallClock* wall_ = &kTrueWallClock;  // the server's, which outlives queues
  int64_t next_lease_ = INT64_MAX / 2;
};

}  // namespace weir::server
