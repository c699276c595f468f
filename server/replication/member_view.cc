// What a member tells of itself.
#include "server/replication/member_words.h"
#include "server/replication/shard_member.h"
#include "server/report/figures.h"

namespace weir::server {

MemberView ShardMember::view() const {
  const storage::replication::Fold& fold = member_->fold();
  return {.shard = plan_.shard,
          .node = node_,
          .state = std::string(words_of(member_->role())),
          .serves = serves(),
          .owner_address = fold.owner().address,
          .owner_node = fold.owner().node,
          .epoch = fold.epoch().position,
          .position = fold.head().position,
          .turn = keys_->turn(),
          .committed = office_ ? member_->committed_turn() : keys_->logged_turn(),
          .stopped_because = stopped_because_};
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
  out.counter({"shard_offices", "How often this member has become the owner."}, figures.offices);
  out.counter({"shard_claims", "How often it has claimed to be."}, figures.claims);
  out.counter({"shard_log_rewinds", "How often it has found that the shared log lost its end."},
              figures.rewinds);
}

}  // namespace weir::server
