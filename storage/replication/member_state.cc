#include "storage/replication/member_state.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::storage::replication {
namespace {

LogState log_state_of_newest_bookmark(const LocalTurns& local, uint64_t shard) {
  const std::vector<LogBookmark> bookmarks = local.bookmarks();
  return bookmarks.empty() ? LogState(shard) : LogState(shard, bookmarks.back());
}

}  // namespace

MemberState::MemberState(const MemberOptions& given, const LocalTurns* local_turns,
                         MemberActions* actions, int64_t newest_instant_ns)
    : options(given),
      local(local_turns),
      port(actions),
      times(given.times),
      log_state(log_state_of_newest_bookmark(*local_turns, given.records.shard)),
      held(local_turns),
      timeline(newest_instant_ns) {
  failure_detector.new_record(port->random());
}

void MemberState::elect(int64_t wait_ns, Instants now) {
  if (!is_primary()) {
    role = Role::kPrimary;
    switchover = {};
    unsettled = true;
    pace.heartbeat_sent_at_ns = now.boot_ns;
  }
  lease.begin_epoch(wait_ns);
  claim_due = times != log_state.times() ? ClaimDue::kForTimes : ClaimDue::kNo;
  if (primary_state == PrimaryState::kServing) return;  // only its times have changed
  if (primary_state != PrimaryState::kNone) primary_state = PrimaryState::kAppending;
  append_again_until = held.newest();
  committed_turn = log_state.newest_turn();
  if (held.has_accepted()) committed_turn = held.first_accepted() - 1;
  if (primary_state == PrimaryState::kNone) let_out_turn = committed_turn;
}

void MemberState::acknowledge(int64_t sent_boot_ns, Instants now) {
  lease.acknowledge(sent_boot_ns, now.boot_ns);
  unsettled = false;
  for (const Batch& batch : held.take_accepted()) {
    port->write_committed(batch);
    held.wrote(batch);
    committed_turn = batch.last_turn();
  }
  replace_bookmark_if_due(now);
}

void MemberState::serve_if_ready(Instants now) {
  if (primary_state != PrimaryState::kNone && primary_state != PrimaryState::kAppending) return;
  if (!lease.is_acknowledged() || committed_turn < append_again_until) return;
  if (!lease.may_let_out(now.boot_ns)) return;
  if (std::exchange(primary_state, PrimaryState::kServing) != PrimaryState::kNone) return;
  ++metrics.promotions;
  port->promote(timeline.at(now));
}

void MemberState::demote(Reason reason) {
  primary_state = PrimaryState::kNone;
  step_down();
  port->demote(reason);
  held.drop_sealed();
  log_state = log_state_of_newest_bookmark(*local, options.records.shard);
  catch_up.end_search();
}

void MemberState::step_down() {
  role = Role::kFollowing;
  held.drop_sealed();
  claims.spend_all();
  lease.end();
  committed_turn = let_out_turn;
  unsettled = false;
  claim_due = ClaimDue::kNo;
  switchover = {};
  failure_detector.new_record(port->random());
}

void MemberState::stop(Reason reason) {
  if (primary_state != PrimaryState::kNone) demote(reason);
  role = Role::kStopped;
  catch_up.end_search();
  port->stop(reason);
}

void MemberState::replace_bookmark_if_due(Instants now) {
  if (now.boot_ns - pace.bookmark_replaced_at_ns < Pace::kReplaceBookmarkNs) return;
  const bool applied = log_state.has_begun() && log_state.parts() == 0 &&
                       log_state.newest_turn() == held.newest_local() && !unsettled &&
                       !held.has_accepted();
  const bool heals =
      primary_state != PrimaryState::kNone && primary_state != PrimaryState::kServing;
  if (!applied || heals) return;
  // The oldest bookmark stays: after a rewind there may be no other that the log confirms.
  const std::vector<LogBookmark> bookmarks = local->bookmarks();
  if (bookmarks.empty() || bookmarks.front().turn() >= log_state.newest_turn()) return;
  pace.bookmark_replaced_at_ns = now.boot_ns;
  port->replace_bookmark(log_state.bookmark());
}

}  // namespace weir::storage::replication
