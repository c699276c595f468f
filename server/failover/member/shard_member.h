// A server as a member of a shard: puts the protocol (storage/replication/member.h), the shared log
// and the server's keyspace together.
//
// Invariants
// 1. The protocol runs between turns. Answers of the log that come at other times wait for that.
//    Only while a script runs long the primary takes in between that its appends are acknowledged,
//    and tells the log that it lives, at the instant of the turn that runs. Its other answers may
//    cost the role of primary, and with it the data under the script. By such a HEARTBEAT instants
//    never run back along the log; a standby that takes over just then goes on that much earlier.
// 2. What the own store's log has is what the shared log has committed, or what was read there.
// 3. A store that fails ends the process: another member goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/core/run/server.h"
#include "server/core/shard/membership.h"
#include "server/failover/copies/shard_copies.h"
#include "server/failover/member/kept_turns.h"
#include "server/failover/member/member_plan.h"
#include "server/failover/member/member_port.h"
#include "server/failover/member/operator_requests.h"
#include "server/failover/member/primary_replies.h"
#include "server/failover/member/primary_teller.h"
#include "server/failover/member/settings_pull.h"
#include "server/failover/member/stale_clients.h"
#include "server/failover/member/told_facts.h"
#include "server/failover/peers/node_digests.h"
#include "server/failover/peers/shard_registry.h"
#include "server/failover/shared_log/log_trimmer.h"
#include "server/failover/shared_log/open_log.h"
#include "server/failover/shared_log/trouble_teller.h"
#include "server/os/clock.h"
#include "server/os/random.h"
#include "storage/replication/member.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/socket_watcher.h"

namespace weir::server {

class ShardMember final : public Membership, public InstantSource, public storage::TurnLog {
 public:
  ShardMember(MemberPlan plan, OpenedLog opened, Clock* clock);

  // Membership
  Result<void, std::string> begin(Server* server) override;
  void listen() override;
  void act() override;
  void heartbeat() override;
  void set_watcher(storage::SocketWatcher* watcher) override;
  void on_socket_ready() override;
  int64_t next_ns() override;
  bool serves() const override { return port_.is_promoted() && member_->may_seal(); }
  std::string refusal() const override;
  const PrimaryRules& rules() const override { return replies_; }
  MemberView view() const override;
  std::vector<MemberSeen> members() const override;
  void write_metrics(MetricWriter& out) const override;
  Result<void, std::string> order(const MemberOrder& order) override;
  Snapshots* snapshots() override { return &copies_->given(); }
  SlotRanges slots() const override { return plan_.slots; }
  FactsExchange* facts_exchange() override { return watch_.get(); }
  std::vector<KnownShard> known_shards() const override {
    return watch_ == nullptr ? std::vector<KnownShard>() : watch_->shards();
  }
  KnownShard known_own_shard() const override {
    return watch_ == nullptr ? KnownShard() : watch_->own_shard();
  }
  KnownRevision known_revision() const override {
    return watch_ == nullptr ? KnownRevision() : watch_->known().revision();
  }
  void begin_to_leave() override;
  bool has_left() const override;

  // InstantSource
  int64_t instant_ns() override { return port_.instant_ns(); }
  bool passes() const override { return port_.is_promoted(); }

  // TurnLog
  storage::Status append(uint64_t turn, std::string_view record) override;

  // What the server is made with.
  Replication replication();

  const storage::replication::Member& protocol() const { return *member_; }
  const PrimaryReplies& replies() const { return replies_; }

 private:
  using While = storage::replication::While;

  storage::replication::MemberFacts facts() const;  // what it tells the others of itself
  ShardFacts told_facts();                          // and members of all shards
  void settle();
  void begin_protocol();
  Result<void, std::string> rejoin();
  void adopt_copy();

  const MemberPlan plan_;
  Clock& clock_;
  Random random_;
  storage::replication::Author self_;
  Server* server_ = nullptr;
  storage::Keyspace* keys_ = nullptr;
  MemberPort port_;  // which the log answers to, so it outlives it
  const std::unique_ptr<storage::replication::SharedLog> log_;
  storage::WatchedLog* const watched_log_;  // the same; null: it has no socket
  ShardRegistry registry_;
  NodeDigests digests_;  // as the member registry has them
  LogTrimmer trimmer_;
  std::unique_ptr<KeptTurns> kept_;
  std::unique_ptr<storage::replication::Member> member_;
  PrimaryReplies replies_;
  StaleClients stale_clients_;
  // The place in the log that the state files have reached.
  storage::replication::Head written_back_;
  std::unique_ptr<ShardCopies> copies_;
  OperatorRequests operator_requests_;
  PrimaryTeller primary_teller_;
  TroubleTeller trouble_;
  ToldLoad load_;
  std::unique_ptr<ClusterWatch> watch_;          // null: it asks no other shards
  std::unique_ptr<SettingsPull> settings_pull_;  // null likewise
  std::optional<uint64_t> settings_shard_;       // of MemberView
};

}  // namespace weir::server
