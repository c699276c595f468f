// What a member gives to other members of its data, and how it gets theirs where it comes back too
// late for what the shared log keeps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "server/core/run/server.h"
#include "server/core/shard/snapshots.h"
#include "server/failover/copies/snapshot_pull.h"
#include "server/os/clock.h"

namespace weir::server {

class ShardCopies {
 public:
  // A plan without a directory copies nothing. `place` is asked for each snapshot that is given.
  ShardCopies(const PullPlan& plan, Server* server, Clock* clock, Snapshots::Place place);

  Snapshots& given() { return given_; }
  const Snapshots& given() const { return given_; }
  bool can_copy() const { return pull_ != nullptr; }

  using Sources = std::function<std::vector<Source>()>;
  // Of a member that is too late: begins to copy from one of `sources`, which are asked for when
  // they are needed, or looks whether that has ended. True, once: the copy waits to be put in place
  // of the data.
  bool has_copied(const Sources& sources, uint64_t random);
  // The data that the next copy replaces stays, in a folder beside it, for people to look at.
  void keep_old_data() { keeps_old_data_ = true; }
  // The copy is in place: the old data goes, or gets the name by which it stays.
  void adopted();

 private:
  static constexpr int64_t kAgainNs = 5 * kNsPerS;

  const std::string directory_;
  Clock& clock_;
  Snapshots given_;
  Remover remover_;
  int64_t begin_at_ns_ = 0;
  bool keeps_old_data_ = false;
  std::unique_ptr<SnapshotPull> pull_;
};

}  // namespace weir::server
