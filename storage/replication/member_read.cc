// What a member makes of the records it reads or has appended.
#include <algorithm>
#include <utility>

#include "storage/replication/member.h"

namespace weir::storage::replication {

void Member::read(const Read& answer, Instants now) {
  if (!std::holds_alternative<Reading>(asked_)) return;
  asked_ = std::monostate();
  if (role_ == Role::kStopped) return;
  using Outcome = Read::Outcome;
  if (answer.outcome == Outcome::kFailed) {
    silence_.failed_read();
    pace_.read_again_at_ns = Pace::after_failure(now.boot_ns, port_->random());
    catch_up_.must_read();
  } else if (answer.outcome == Outcome::kDamaged) {
    stop(Reason::kDamaged);
  } else if (StampSearch* const search = catch_up_.search()) {
    search->answer(answer.outcome);
    if (search->is_done()) end_search();
  } else if (answer.outcome == Outcome::kTrimmed) {
    stop(Reason::kTrimmed);
  } else if (answer.outcome == Outcome::kRewound) {
    begin_search();
  } else {
    catch_up_.must_read();
    silence_.successful_read(now.boot_ns);
    const bool whole = std::all_of(answer.records.begin(), answer.records.end(),
                                   [&](const Record& record) { return absorb(record, now); });
    if (whole && answer.at_end) reach_end(!answer.records.empty(), now);
  }
  tick(now);
}

// Folds a record and acts on it. Answers false where nothing after it may be folded now.
bool Member::absorb(const Record& record, Instants now) {
  const int64_t superseded_lease_ns = fold_.times().lease_ns;
  const Fold::Outcome outcome = fold_.apply(record.head, record.bytes);
  if (outcome.verdict == Verdict::kImpossible) {
    meet_impossible(record.head);
    return false;
  }
  if (!owns()) silence_.new_record(port_->random());
  if (outcome.verdict == Verdict::kVoid) return true;
  timeline_.note(outcome.instant_ns, now);
  if (outcome.kind == Kind::kGenesis && fold_.newest_turn() > held_.newest_local()) {
    stop(Reason::kTrimmed);  // the shard was made from a directory that this member has not
    return false;
  }
  if (outcome.kind == Kind::kGenesis) port_->restamp(fold_.stamp());
  if (outcome.kind == Kind::kClaim) return absorb_claim(record.head, superseded_lease_ns, now);
  if (outcome.kind == Kind::kHandover && office_ != Office::kNone) {
    lose_office(Reason::kHandedOver);
    return false;
  }
  if (!outcome.turns.empty()) return absorb_turns(outcome);
  return true;
}

bool Member::absorb_claim(const Head& head, int64_t superseded_lease_ns, Instants now) {
  if (claims_.is_own(head)) return true;  // read again after a rewind
  if (const auto sent = claims_.found(head)) {
    elect(sent->waits ? Lease::wait_for(superseded_lease_ns) : 0, now);
    if (claim_ahead_ && claim_ahead_->head == head) acknowledge(claim_ahead_->sent_boot_ns, now);
    return true;
  }
  if (office_ != Office::kNone) {
    lose_office(Reason::kFenced);
    return false;
  }
  if (owns()) step_down();
  return true;
}

// A standby applies what it reads; an owner waits for the acknowledgement of what it sealed.
bool Member::absorb_turns(const Fold::Outcome& outcome) {
  using Match = HeldTurns::Match;
  if (outcome.first_turn > held_.newest() + 1) {
    stop(Reason::kTurnsDiffer);
    return false;
  }
  for (size_t i = 0; i < outcome.turns.size(); ++i) {
    const Match match = held_.match(outcome.first_turn + i, outcome.turns[i]);
    if (match == Match::kSame || (match == Match::kNew && !owns())) continue;
    if (owns() && claims_.is_own(fold_.epoch())) {
      stop(Reason::kTwin);
    } else if (match == Match::kLocalDiffers) {
      stop(Reason::kTurnsDiffer);
    } else {
      // An earlier owner came back while this owner's CLAIM was lost. Nothing committed differs.
      lose_office(Reason::kFenced);
    }
    return false;
  }
  Batch batch{.first_turn = outcome.first_turn, .turns = outcome.turns, .stamp = fold_.stamp()};
  if (owns()) {
    held_.accept(std::move(batch));
    return true;
  }
  if (!port_->follow(batch)) {
    stop(Reason::kBadTurns);
    return false;
  }
  held_.wrote(batch);
  return true;
}

void Member::meet_impossible(const Head& head) {
  if (impossible_at_ == head) return stop(Reason::kImpossible);
  if (office_ != Office::kNone) {
    lose_office(Reason::kImpossible);
  } else if (owns()) {
    step_down();
  }
  impossible_at_ = head;
  catch_up_.begin_search(local_->stamps());
  if (catch_up_.search()->is_done()) end_search();
}

void Member::reach_end(bool brought_records, Instants now) {
  catch_up_.reached_end();
  timeline_.begin_live();
  if (role_ == Role::kJoining) role_ = Role::kFollowing;
  pace_.poll_at_ns =
      now.boot_ns + (brought_records ? Pace::kPollAfterRecordsNs : Pace::kPollIdleNs);
  if (refused_at_ == fold_.head()) {
    pace_.append_again_at_ns = Pace::after_failure(now.boot_ns, port_->random());
  }
  refused_at_.reset();
  if (office_ == Office::kReading) office_ = Office::kClaiming;
  restamp_if_due(now);
}

// The log is not what it was: nothing leaves until the newest common place is found and, if this
// member is owner, until it has claimed the office again.
void Member::begin_search() {
  ++figures_.rewinds;
  silence_.failed_read();
  refused_at_.reset();
  if (office_ != Office::kNone) {
    role_ = Role::kOwning;
    hand_over_ = {};
    office_ = Office::kReading;
    committed_turn_ = let_out_turn_;  // what was committed and has not left may be what was lost
  } else if (owns()) {
    step_down();
  }
  catch_up_.begin_search(local_->stamps());
  if (catch_up_.search()->is_done()) end_search();
}

// Where no stamp is confirmed it looks a second time before it stops: the engine may have failed
// over in the middle of the search, so that the answers were about two logs.
void Member::end_search() {
  const std::optional<Stamp> stamp = catch_up_.search()->found();
  catch_up_.end_search();
  if (!stamp && !local_->stamps().empty() && catch_up_.found_nothing())
    return catch_up_.begin_search(local_->stamps());
  if (!stamp && (held_.newest_local() > 0 || !local_->stamps().empty()))
    return stop(Reason::kRewoundTooFar);
  const uint64_t shard = options_.records.shard;
  fold_ = stamp ? Fold(shard, *stamp) : Fold(shard);
  held_.forget_accepted();
}

// Where only BEATs come, a restart would read a long way from the newest batch's stamp.
void Member::restamp_if_due(Instants now) {
  if (now.boot_ns - pace_.restamped_at_ns < Pace::kRestampNs) return;
  const bool applied = fold_.has_begun() && fold_.parts() == 0 &&
                       fold_.newest_turn() == held_.newest_local() && !unsettled_ &&
                       !held_.has_accepted();
  const bool heals = office_ != Office::kNone && office_ != Office::kServing;
  if (!applied || heals) return;
  // The oldest stamp stays: after a rewind there may be no other that the log confirms.
  const std::vector<Stamp> stamps = local_->stamps();
  if (stamps.empty() || stamps.front().turn() >= fold_.newest_turn()) return;
  pace_.restamped_at_ns = now.boot_ns;
  port_->restamp(fold_.stamp());
}

}  // namespace weir::storage::replication
