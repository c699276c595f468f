// Copies another member's data (server/core/shard/snapshots.h), for a member that has none, or that
// comes back too late for what the shared log keeps.
//
// Invariants
// 1. What is copied lies in DIR/incoming.tmp until every byte of it was synced; then it is called
//    DIR/incoming. Nothing of the member's own data was touched until then.
// 2. install_snapshot() puts it in the place of the data. A process that dies in the middle finds
//    the rest in `incoming` at its next start, and goes on with it. The old data lies in
//    DIR/set-aside then.
// 3. NODE is no part of it: a copy of the data is not the same node.
// 4. Names of files come from another machine: only those of a data directory are taken.
// 5. Nor is the other machine believed in anything else: what it lists has to fit on the disk with
//    room left, no file gets more bytes than were listed, no answer may be large or slow, a copy
//    that does not go on is given up, and so is one that holds a record which cannot be
//    (copy_check.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/failover/peers/peer.h"
#include "server/os/clock.h"
#include "storage/store/worker_thread.h"

namespace weir::server {

struct PullPlan {
  std::string directory;  // the data directory; "": there is none to copy to
  std::string shard;      // its name, which the copy must have
  // Told how far a copy is, and within which time more will be told; null: nobody listens.
  std::function<void(const std::string& line, int64_t within_ns)> tell;
  PeerAccess peers;
};

// "host:port" of a member that has what is to be copied.
using Source = std::string;

struct Pulled {
  Source from;
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Waits. Asks one after the other; the error is that of the last one. `stops`, if another thread
// sets it, makes it fail soon.
Result<Pulled, std::string> pull_snapshot(const PullPlan& plan, const std::vector<Source>& from,
                                          uint64_t random, Clock* clock,
                                          const std::atomic<bool>& stops);

// Tells whether something was copied whole, and is not in place yet.
bool holds_copy(const std::string& directory);
// Puts what was copied in the place of the data, if there is anything. REQUIRES: nobody has the
// data open.
Result<void, std::string> install_snapshot(const std::string& directory);
// What install_snapshot() has left of the old data.
std::string data_set_aside(const std::string& directory);

// Copies on a thread of its own.
class SnapshotPull {
 public:
  explicit SnapshotPull(PullPlan plan) : plan_(std::move(plan)) {}
  ~SnapshotPull() { stops_ = true; }
  SnapshotPull(const SnapshotPull&) = delete;
  SnapshotPull& operator=(const SnapshotPull&) = delete;

  // REQUIRES: !running().
  void start(std::vector<Source> from, uint64_t random);
  bool running() const { return running_; }
  // How the last one ended, once.
  std::optional<Result<Pulled, std::string>> take();

 private:
  const PullPlan plan_;
  SystemClock clock_;
  bool running_ = false;
  std::atomic<bool> stops_{false};
  std::mutex mutex_;
  std::optional<Result<Pulled, std::string>> ended_;
  std::unique_ptr<storage::WorkerThread> worker_;  // ends first
};

}  // namespace weir::server
