#include "storage/replication/absorber.h"

#include <algorithm>
#include <utility>

namespace weir::storage::replication {

void Absorber::take(const Read& answer, Instants now) {
  using Outcome = Read::Outcome;
  if (answer.outcome == Outcome::kFailed) {
    state_.failure_detector.failed_read();
    state_.pace.read_again_at_ns = Pace::after_failure(now.boot_ns, state_.port->random());
    state_.catch_up.must_read();
  } else if (answer.outcome == Outcome::kDamaged) {
    state_.stop(Reason::kDamaged);
  } else if (BookmarkSearch* const search = state_.catch_up.search()) {
    search->answer(answer.outcome);
    if (search->is_done()) end_search();
  } else if (answer.outcome == Outcome::kTrimmed) {
    state_.stop(Reason::kTrimmed);
  } else if (answer.outcome == Outcome::kRewound) {
    begin_search();
  } else {
    state_.catch_up.must_read();
    state_.failure_detector.successful_read(now.boot_ns);
    const bool whole = std::all_of(answer.records.begin(), answer.records.end(),
                                   [&](const Record& record) { return absorb(record, now); });
    if (whole && answer.at_end) reach_end(!answer.records.empty(), now);
  }
}

bool Absorber::absorb(const Record& record, Instants now) {
  const int64_t superseded_lease_ns = state_.log_state.times().lease_ns;
  const LogState::Outcome outcome = state_.log_state.apply(record.head, record.bytes);
  if (outcome.validity == Validity::kImpossible) {
    meet_impossible(record.head);
    return false;
  }
  if (!state_.is_primary()) state_.failure_detector.new_record(state_.port->random());
  if (outcome.validity == Validity::kVoid) return true;
  state_.timeline.note(outcome.instant_ns, now);
  if (outcome.kind == Kind::kGenesis &&
      state_.log_state.newest_turn() > state_.held.newest_local()) {
    state_.stop(Reason::kTrimmed);  // the shard was made from a directory that this member has not
    return false;
  }
  if (outcome.kind == Kind::kGenesis) state_.port->replace_bookmark(state_.log_state.bookmark());
  if (outcome.kind == Kind::kClaim) return absorb_claim(record.head, superseded_lease_ns, now);
  if (outcome.kind == Kind::kSwitchover && state_.primary_state != PrimaryState::kNone) {
    state_.demote(Reason::kSwitchedOver);
    return false;
  }
  if (!outcome.turns.empty()) return absorb_turns(outcome);
  return true;
}

bool Absorber::absorb_claim(const Head& head, int64_t superseded_lease_ns, Instants now) {
  if (state_.claims.is_own(head)) return true;  // read again after a rewind
  if (const auto sent = state_.claims.found(head)) {
    state_.elect(sent->waits ? Lease::wait_for(superseded_lease_ns) : 0, now);
    if (state_.claim_ahead && state_.claim_ahead->head == head)
      state_.acknowledge(state_.claim_ahead->sent_boot_ns, now);
    return true;
  }
  if (state_.primary_state != PrimaryState::kNone) {
    state_.demote(Reason::kFenced);
    return false;
  }
  if (state_.is_primary()) state_.step_down();
  return true;
}

// A standby applies what it reads; a primary waits for the acknowledgement of what it sealed.
bool Absorber::absorb_turns(const LogState::Outcome& outcome) {
  using Match = HeldTurns::Match;
  if (outcome.first_turn > state_.held.newest() + 1) {
    state_.stop(Reason::kTurnsDiffer);
    return false;
  }
  for (size_t i = 0; i < outcome.turns.size(); ++i) {
    const Match match = state_.held.match(outcome.first_turn + i, outcome.turns[i]);
    if (match == Match::kSame || (match == Match::kNew && !state_.is_primary())) continue;
    if (state_.is_primary() && state_.claims.is_own(state_.log_state.epoch())) {
      state_.stop(Reason::kTwin);
    } else if (match == Match::kLocalDiffers) {
      state_.stop(Reason::kTurnsDiffer);
    } else {
      // An earlier primary came back while this primary's CLAIM was lost. Nothing committed
      // differs.
      state_.demote(Reason::kFenced);
    }
    return false;
  }
  Batch batch{.first_turn = outcome.first_turn,
              .turns = outcome.turns,
              .bookmark = state_.log_state.bookmark()};
  if (state_.is_primary()) {
    state_.held.accept(std::move(batch));
    return true;
  }
  if (!state_.port->follow(batch)) {
    state_.stop(Reason::kBadTurns);
    return false;
  }
  state_.held.wrote(batch);
  return true;
}

void Absorber::meet_impossible(const Head& head) {
  if (impossible_at_ == head) return state_.stop(Reason::kImpossible);
  if (state_.primary_state != PrimaryState::kNone) {
    state_.demote(Reason::kImpossible);
  } else if (state_.is_primary()) {
    state_.step_down();
  }
  impossible_at_ = head;
  state_.catch_up.begin_search(state_.local->bookmarks());
  if (state_.catch_up.search()->is_done()) end_search();
}

void Absorber::reach_end(bool brought_records, Instants now) {
  state_.catch_up.reached_end();
  state_.timeline.begin_live();
  if (state_.role == Role::kJoining) state_.role = Role::kFollowing;
  state_.pace.poll_at_ns =
      now.boot_ns + (brought_records ? Pace::kPollAfterRecordsNs : Pace::kPollIdleNs);
  if (state_.refused_at == state_.log_state.head()) {
    state_.pace.append_again_at_ns = Pace::after_failure(now.boot_ns, state_.port->random());
  }
  state_.refused_at.reset();
  if (state_.primary_state == PrimaryState::kReading)
    state_.primary_state = PrimaryState::kClaiming;
  state_.replace_bookmark_if_due(now);
}

// The log is not what it was: nothing leaves until the newest common place is found and, if this
// member is primary, until it has claimed the role again.
void Absorber::begin_search() {
  ++state_.metrics.rewinds;
  state_.failure_detector.failed_read();
  state_.refused_at.reset();
  if (state_.primary_state != PrimaryState::kNone) {
    state_.role = Role::kPrimary;
    state_.switchover = {};
    state_.primary_state = PrimaryState::kReading;
    state_.committed_turn =
        state_.let_out_turn;  // what was committed and has not left may be what was lost
  } else if (state_.is_primary()) {
    state_.step_down();
  }
  state_.catch_up.begin_search(state_.local->bookmarks());
  if (state_.catch_up.search()->is_done()) end_search();
}

// Where no bookmark is confirmed it looks a second time before it stops: the engine may have failed
// over in the middle of the search, so that the answers were about two logs.
void Absorber::end_search() {
  const std::optional<LogBookmark> bookmark = state_.catch_up.search()->found();
  state_.catch_up.end_search();
  if (!bookmark && !state_.local->bookmarks().empty() && state_.catch_up.found_nothing())
    return state_.catch_up.begin_search(state_.local->bookmarks());
  if (!bookmark && (state_.held.newest_local() > 0 || !state_.local->bookmarks().empty()))
    return state_.stop(Reason::kRewoundTooFar);
  const uint64_t shard = state_.options.records.shard;
  state_.log_state = bookmark ? LogState(shard, *bookmark) : LogState(shard);
  state_.held.forget_accepted();
}

}  // namespace weir::storage::replication
