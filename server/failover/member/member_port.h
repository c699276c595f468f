// What the protocol of a member does: it asks the shared log, writes into the own store's log, and
// promotes and demotes the server.
//
// Invariant: what the log answers waits until the member takes it in (shard_member.h, 1).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/run/server.h"
#include "server/failover/member/member_plan.h"
#include "server/failover/member/primary_replies.h"
#include "server/failover/member/stale_clients.h"
#include "server/failover/shared_log/log_trimmer.h"
#include "server/os/clock.h"
#include "server/os/random.h"
#include "storage/replication/bookmark_trail.h"
#include "storage/replication/member.h"
#include "storage/replication/primary_clock.h"
#include "storage/replication/shared_log.h"

namespace weir::server {

class MemberPort final : public storage::replication::MemberActions {
 public:
  struct Parts {
    const MemberPlan* plan;
    Clock* clock;
    Random* random;
    storage::replication::SharedLog* log;
    LogTrimmer* trimmer;
    PrimaryReplies* replies;
    StaleClients* stale_clients;
  };
  // Of Role::kStopped.
  struct Stopped {
    std::string because;
    bool copies = false;  // another member's data, since the log does not reach back to this one's
  };
  using Head = storage::replication::Head;
  using Batch = storage::replication::Batch;
  using LogBookmark = storage::replication::LogBookmark;
  using Reason = storage::replication::Reason;
  using While = storage::replication::While;

  explicit MemberPort(const Parts& parts) : parts_(parts) {}

  // The own store's, and later the server's. Instants are known from the first on.
  void use(storage::Keyspace* keys) { keys_ = keys; }
  void begin(Server* server) { server_ = server; }
  // The protocol begins, on a log that has these bookmarks.
  void begin_protocol(storage::replication::Member* member,
                      const std::vector<LogBookmark>& bookmarks);
  // It ends, since other data takes the place of the own.
  void end_protocol();

  bool has_answers() const { return !answers_.empty(); }
  // Hands the protocol what the log has answered. In a turn, as much of it as may be taken in then.
  void take_in(While when);
  // A standby that cannot write back as fast as it reads, reads later.
  void ask_to_read();
  // Between these the primary's instants are that of the turn that runs.
  void enter_turn() { is_in_turn_ = true; }
  void leave_turn() { is_in_turn_ = false; }

  bool is_promoted() const { return instants_.has_value(); }
  const Stopped& stopped() const { return stopped_; }
  void copy_another() { stopped_.copies = true; }
  // The place in the log that the state files have reached.
  Head written_back() { return trail_.reached(written_back_turn()); }
  // Whether data has come since the last call, so that the timeline has to be looked at.
  bool take_data_moved() { return std::exchange(data_moved_, false); }
  storage::replication::Instants now() const {
    return {.boot_ns = parts_.clock->boot_ns(), .wall_ns = parts_.clock->wall_ns()};
  }

  // MemberActions
  void append(std::optional<Head> expected, std::string record) override;
  void read(Head after, size_t bytes_max) override;
  bool follow(const Batch& batch) override;
  void write_committed(const Batch& batch) override;
  void replace_bookmark(const LogBookmark& bookmark) override;
  void promote(int64_t instant_ns) override;
  void demote(Reason reason) override;
  void stop(Reason reason) override;
  // The primary's instants, or those of the turns that come.
  int64_t instant_ns() override;
  uint64_t written_back_turn() const override { return keys_->metrics().written_back_turn; }
  uint64_t random() override { return parts_.random->next(); }

 private:
  struct ReadAsked {
    Head after;
    size_t bytes_max = 0;
  };

  const Parts parts_;
  Server* server_ = nullptr;
  storage::Keyspace* keys_ = nullptr;
  storage::replication::Member* member_ = nullptr;
  // What came at other times than the protocol's. One that cannot be taken in while a turn runs
  // answers false and stays.
  std::deque<std::function<bool(While when)>> answers_;
  uint64_t life_ = 0;                    // of the protocol; answers to an earlier one go nowhere
  std::optional<ReadAsked> read_asked_;  // waits until write-back has caught up
  std::optional<storage::replication::PrimaryClock> instants_;  // while this is the primary
  bool is_in_turn_ = false;
  bool data_moved_ = false;
  storage::replication::BookmarkTrail trail_;
  Stopped stopped_;
  std::string bad_turn_;  // what is wrong with one that was read; "": nothing
};

}  // namespace weir::server
