// What a shard's primary answers, and when, while its log is well, slow or away.
//
// A reply waits until its turn is committed, and one that depends on data and not on a turn for the
// lease. The reply of a command that takes permits leaves after a while without, within the bounds
// of storage/replication/early_release.h. When the log has been away for long, whoever waits is
// given up, and requests for data whose replies would have to wait are refused.
//
// Takes leave early because an engine that fails over is away for half a minute, and clients that
// fail open bypass a limiter that answers errors: a primary that goes on enforcing admits less.
// All else waits: a lease is a lock, and a script or a transaction is more than a take. A session
// that waits too long is closed, because what it asked may still come to pass. What is given up is
// that an answered take is always remembered; `commit-wait-ms -1` is the other choice.
//
// Invariant: whether a reply may leave early is asked of the clock when it leaves, never before.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time_units.h"
#include "server/core/disk/durability.h"
#include "server/core/shard/membership.h"
#include "server/failover/member/uncommitted_turns.h"
#include "server/failover/shared_log/log_absence.h"
#include "server/os/clock.h"
#include "storage/replication/early_release.h"
#include "storage/replication/member.h"

namespace weir::server {

struct ReplyPlan {
  int64_t log_timeout_ns = kNsPerS;  // and a second later the log is away
  int64_t early_wait_ns = kNotDue;   // after the turn's end; kNotDue: no reply leaves early
  bool counts_leave_early = false;   // those of INCR and its like, too
  bool speaks_cluster = false;       // clients speak the cluster protocol
  storage::replication::EarlyOptions early;
};

class PrimaryReplies final : public PrimaryRules {
 public:
  PrimaryReplies(const ReplyPlan& plan, Clock* clock)
      : plan_(plan), clock_(*clock), absence_(plan.log_timeout_ns + kNsPerS), early_(plan.early) {}

  void begin(const storage::replication::Member* member) { member_ = member; }
  void promote() { is_promoted_ = true; }
  // Answers how many permits clients were told of that are lost with it.
  uint64_t demote();
  // What the protocol has committed is not owed any more.
  void settle();

  // Durability
  Coverage covers(const Told& told, int64_t steady_ns) const;
  int64_t early_wait_ns() const { return plan_.early_wait_ns; }
  bool let_out_early(const Told& told, uint64_t permits, int64_t steady_ns);
  bool gives_up() const { return is_promoted_ && absence_.is_away(); }

  // PrimaryRules
  Result<void, std::string> admit(const DataRequest& request) const override;
  bool leaves_early(const Command& command) const override;

  LogAbsence& absence() { return absence_; }
  UncommittedTurns& turns() { return turns_; }
  const UncommittedTurns& turns() const { return turns_; }
  uint64_t early_permits() const { return early_.permits(); }
  uint64_t early_permits_lost() const { return lost_; }
  void write_metrics(MetricWriter& out) const;

 private:
  bool may_leave_early(uint64_t permits, int64_t boot_ns) const;

  const ReplyPlan plan_;
  Clock& clock_;
  const storage::replication::Member* member_ = nullptr;
  LogAbsence absence_;
  UncommittedTurns turns_;
  storage::replication::EarlyReleases early_;
  uint64_t lost_ = 0;
  bool is_promoted_ = false;
};

}  // namespace weir::server
