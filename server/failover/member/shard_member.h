// A server as a member of a shard: puts the protocol (storage/replication/member.h), the shared log
// and the server's keyspace together.
//
// Invariants
// 1. The protocol runs between turns. Answers of the log that come at other times wait for that.
// Only
//    while a script runs long the owner takes in between that its appends are acknowledged, and
//    tells the log that it lives, at the instant of the turn that runs.
// 2. What the own store's log has is what the shared log has committed, or what was read there.
// 3. A store that fails ends the process: another member goes on.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/cluster/node_file.h"
#include "server/core/run/server.h"
#include "server/core/shard/membership.h"
#include "server/failover/copies/shard_copies.h"
#include "server/failover/member/kept_turns.h"
#include "server/failover/member/office_wishes.h"
#include "server/failover/member/owner_replies.h"
#include "server/failover/member/owner_teller.h"
#include "server/failover/member/stale_clients.h"
#include "server/failover/peers/node_digests.h"
#include "server/failover/peers/shard_board.h"
#include "server/failover/shared_log/log_trimmer.h"
#include "server/failover/shared_log/open_log.h"
#include "server/failover/shared_log/trouble_teller.h"
#include "server/os/clock.h"
#include "server/os/random.h"
#include "storage/replication/member.h"
#include "storage/replication/office_clock.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/socket_watcher.h"
#include "storage/replication/stamp_trail.h"

namespace weir::server {

// What a member is, before its data is open.
struct MemberPlan {
  std::string shard;            // its name
  uint64_t shard_checksum = 0;  // that its records carry
  std::string address;          // "host:port" that clients reach this server by
  storage::replication::Times times;
  int64_t append_interval_ns = 0;
  storage::replication::TrimOptions trim;
  ReplyPlan replies;
  uint64_t seed = 0;  // of what is drawn at random
  PullPlan pull;      // how it copies another member's data
  // Which node this is, once the data is open, or why that is not known.
  std::function<Result<NodeFile, std::string>()> node;
  // The process must end; it does not come back.
  std::function<void(const std::string& why)> on_failure;
};

class ShardMember final : public Membership,
                          public InstantSource,
                          public storage::TurnLog,
                          private storage::replication::Port {
 public:
  ShardMember(MemberPlan plan, OpenedLog opened, Clock* clock);

  // Membership
  Result<void, std::string> begin(Server* server) override;
  void listen() override;
  void act() override;
  void beat() override;
  void set_watcher(storage::SocketWatcher* watcher) override;
  void on_socket_ready() override;
  int64_t next_ns() override;
  bool serves() const override { return office_ && member_->may_seal(); }
  std::string refusal() const override;
  const OwnerRules& rules() const override { return replies_; }
  MemberView view() const override;
  std::vector<MemberSeen> members() const override;
  void write_figures(FigureWriter& out) const override;
  Result<void, std::string> order(const MemberOrder& order) override;
  Snapshots* snapshots() override { return &copies_->given(); }
  void begin_to_leave() override;
  bool has_left() const override;

  // InstantSource, and of Port the same: the owner's instants, or those of the turns that come.
  int64_t instant_ns() override;
  bool passes() const override { return office_.has_value(); }

  // TurnLog
  storage::Status append(uint64_t turn, std::string_view record) override;

  // What the server is made with.
  Replication replication();

  const storage::replication::Member& protocol() const { return *member_; }
  const OwnerReplies& replies() const { return replies_; }

 private:
  using Head = storage::replication::Head;
  using While = storage::replication::While;
  using Batch = storage::replication::Batch;
  using Stamp = storage::replication::Stamp;
  using Reason = storage::replication::Reason;

  struct ReadAsked {
    Head after;
    size_t bytes_max = 0;
  };
  // Of Role::kStopped.
  struct Stopped {
    std::string because;
    bool copies = false;  // another member's data, since the log does not reach back to this one's
  };

  // Port
  void append(std::optional<Head> expected, std::string record) override;
  void read(Head after, size_t bytes_max) override;
  bool follow(const Batch& batch) override;
  void commit(const Batch& batch) override;
  void restamp(const Stamp& stamp) override;
  void take_office(int64_t instant_ns) override;
  void lose_office(Reason reason) override;
  void stop(Reason reason) override;
  uint64_t written_back_turn() const override;
  uint64_t random() override { return random_.next(); }

  storage::replication::MemberFacts facts() const;  // what it tells the others of itself
  void settle();
  void begin_protocol();
  Result<void, std::string> rejoin();
  void adopt_copy();
  void ask_to_read();

  const MemberPlan plan_;
  Clock& clock_;
  Random random_;
  storage::replication::Author self_;
  Server* server_ = nullptr;
  storage::Keyspace* keys_ = nullptr;
  // What came at other times than the protocol's: the log's answers, and what people ask for. One
  // that cannot be taken in while a turn runs answers false and stays.
  std::deque<std::function<bool(While when)>> answers_;
  const std::unique_ptr<storage::replication::SharedLog> log_;
  storage::WatchedLog* const watched_log_;  // the same; null: it has no socket
  ShardBoard board_;
  NodeDigests digests_;  // as the Board has them
  LogTrimmer trimmer_;
  std::unique_ptr<KeptTurns> kept_;
  std::unique_ptr<storage::replication::Member> member_;
  std::optional<storage::replication::OfficeClock> office_;  // while this is the owner
  OwnerReplies replies_;
  std::optional<ReadAsked> read_asked_;  // waits until write-back has caught up
  bool is_in_turn_ = false;
  bool data_moved_ = false;  // the timeline has to be looked at
  storage::replication::StampTrail trail_;
  Head written_back_;  // the place in the log that the state files have reached
  Stopped stopped_;
  std::string bad_turn_;  // what is wrong with one that was read; "": nothing
  std::unique_ptr<ShardCopies> copies_;
  // Of member_, which ends where other data is adopted. Answers to an earlier one go nowhere.
  uint64_t life_ = 0;
  OfficeWishes wishes_;
  OwnerTeller owner_teller_;
  StaleClients stale_clients_;
  TroubleTeller trouble_;
};

}  // namespace weir::server
