// What a member tells of itself.
#include <algorithm>

#include "server/failover/member/shard_member.h"
#include "server/failover/peers/member_words.h"
#include "server/report/figures.h"

namespace weir::server {

MemberView ShardMember::view() const {
  const storage::replication::Fold& fold = member_->fold();
  return {.shard = plan_.shard,
          .node = self_.node,
          .state = stopped_.copies && copies_->can_copy() ? "copying"
                                                          : std::string(words_of(member_->role())),
          .serves = serves(),
          .owner_address = fold.owner().address,
          .owner_node = fold.owner().node,
          .epoch = fold.epoch().position,
          .position = fold.head().position,
          .turn = keys_->turn(),
          .committed = office_ ? member_->committed_turn() : keys_->logged_turn(),
          .stopped_because = stopped_.because};
}

storage::replication::MemberFacts ShardMember::facts() const {
  storage::replication::MemberFacts facts;
  facts.author = self_;
  facts.role = member_->role();
  facts.applied_turn = office_ ? member_->committed_turn() : keys_->turn();
  facts.head = member_->fold().head();
  facts.written_back_turn = keys_->figures().written_back_turn;
  facts.written_back_head = written_back_;
  facts.configuration_digest = digests_.configuration;
  facts.acl_digest = digests_.acl;
  const SnapshotPlace taken = copies_->given().oldest();
  facts.checkpoint_head = {.position = taken.position, .crc = taken.crc};
  return facts;
}

std::vector<MemberSeen> ShardMember::members() const {
  return board_.members(facts(), member_->fold().owner().node);
}

void ShardMember::write_figures(FigureWriter& out) const {
  const MemberView seen = view();
  const storage::replication::MemberFigures& figures = member_->figures();
  out.text({"shard", "The shard that this server is a member of."}, seen.shard);
  out.text({"shard_node", "This member's name."}, seen.node);
  out.text({"shard_state", "What this member does."}, seen.state);
  out.gauge({"shard_serves", "Whether this member is the owner and serves data."},
            seen.serves ? 1 : 0);
  out.text({"shard_owner", "Where the owner is, as the shared log says."}, seen.owner_address);
  out.gauge({"shard_epoch", "Position of the CLAIM that made the owner."}, seen.epoch);
  out.gauge({"shard_position", "Position of the newest record that this member has read."},
            seen.position);
  out.gauge({"shard_turn", "The newest turn that this member has."}, seen.turn);
  out.gauge({"shard_committed_turn", "The newest turn of this member that is committed."},
            seen.committed);
  const storage::replication::LogFacts log = log_->facts();
  out.text({"shard_log_engine", "What keeps the shared log."}, log.engine + " " + log.version);
  out.gauge({"shard_log_copies", "How many servers hold what the shared log has acknowledged."},
            log.copies);
  out.text({"shard_log_synced", "Whether it is on their disks then."}, words_of(log.fsync));
  out.text({"shard_log_weakness", "Why the shared log may lose it; empty: no reason is known."},
           log.weakness);
  out.counter({"shard_offices", "How often this member has become the owner."}, figures.offices);
  out.counter({"shard_claims", "How often it has claimed to be."}, figures.claims);
  out.counter({"shard_log_rewinds", "How often it has found that the shared log lost its end."},
              figures.rewinds);
  const std::vector<MemberSeen> seen_members = members();
  uint64_t present = 0;
  uint64_t lag_turns = 0;
  for (const MemberSeen& member : seen_members) {
    present += member.is_present ? 1 : 0;
    if (member.is_standby) lag_turns = std::max(lag_turns, member.lag_turns);
  }
  out.gauge({"members_seen",
             "Members of the shard that were heard of within ten seconds, this one "
             "included."},
            present);
  out.gauge({"standby_lag_turns",
             "Turns that the standby which is the furthest back lacks, as it "
             "last told."},
            lag_turns);
  out.gauge({"shard_log_trimmed",
             "Position up to which this owner has let records of the shared "
             "log go."},
            trimmer_.trimmed_up_to());
  replies_.write_figures(out);
}

}  // namespace weir::server
