// When a member appends, and what.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/crc64.h"
#include "storage/replication/member.h"

namespace weir::storage::replication {
// The member has read to the end.
void Member::standby_step(Instants now) {
  if (std::exchange(claim_due_, ClaimDue::kNo) == ClaimDue::kByOperator) {
    if (fold_.has_begun()) return send_claim(false, true, now);
  }
  if (now.boot_ns >= pace_.append_again_at_ns && may_claim()) return send_claim(true, false, now);
  if (now.boot_ns < pace_.poll_at_ns) return;
  catch_up_.must_read();
  tick(now);
}

bool Member::may_claim() const {
  if (role_ != Role::kFollowing || !fold_.has_begun()) return false;
  if (fold_.newest_turn() > held_.newest_local()) return false;  // it lacks turns
  if (fold_.is_unowned() || fold_.handed_to() == options_.self.node) return true;
  return silence_.is_over(times_, fold_.times());
}

// The member has read to the end and its CLAIM is the current epoch, unless it heals.
void Member::owner_step(Instants now, While when) {
  if (now.boot_ns < owner_deadline()) return;
  if (office_ == Office::kClaiming) {
    return send_claim(true, fold_.epoch() != claims_.newest(), now);
  }
  const bool only_beats = when == While::kInATurn;
  const bool lacks_turns = !only_beats && held_.newest() >= fold_.next_turn();
  // Its address and its instant stand in the log every so often, however much there is to append.
  const bool must_beat = may_seal() && now.boot_ns >= pace_.beat_sent_at_ns + Pace::kBeatNsMax;
  if (lacks_turns && !must_beat &&
      (!may_seal() || now.boot_ns >= pace_.turns_sent_at_ns + options_.append_interval_ns)) {
    pace_.turns_sent_at_ns = now.boot_ns;
    return send(Kind::kTurns, maker_.make_turns(fold_, port_->random(), held_), true, now);
  }
  const bool is_drained = !lacks_turns && committed_turn_ == fold_.newest_turn();
  if (role_ == Role::kHandingOver && (hand_over_.is_sent || is_drained)) {
    hand_over_.is_sent = true;
    const Handover handover{.to = hand_over_.to, .instant_ns = port_->instant_ns()};
    return send(Kind::kHandover, maker_.make(fold_, port_->random(), handover), true, now);
  }
  if (claim_due_ == ClaimDue::kForTimes && !only_beats) return send_claim(true, false, now);
  const int64_t beat_ns =
      pace_.beat_deadline(lease_.sent_boot_ns(), fold_.times().failover_after_ns);
  if (!unsettled_ && now.boot_ns < beat_ns) return;
  pace_.beat_sent_at_ns = now.boot_ns;
  const Beat beat{.author = options_.self,
                  .instant_ns = office_ != Office::kNone ? port_->instant_ns() : timeline_.at(now),
                  .written_back_turn = port_->written_back_turn()};
  send(Kind::kBeat, maker_.make(fold_, port_->random(), beat), true, now);
}

int64_t Member::owner_deadline() const {
  const bool lacks_turns = held_.newest() >= fold_.next_turn();
  const bool at_once = unsettled_ || claim_due_ == ClaimDue::kForTimes ||
                       role_ == Role::kHandingOver || office_ == Office::kClaiming ||
                       (lacks_turns && !may_seal());
  if (at_once) return pace_.append_again_at_ns;
  int64_t deadline = pace_.beat_deadline(lease_.sent_boot_ns(), fold_.times().failover_after_ns);
  if (office_ != Office::kServing) deadline = std::min(deadline, lease_.silent_until_ns());
  if (lacks_turns) {
    deadline = std::min(deadline, pace_.turns_sent_at_ns + options_.append_interval_ns);
  }
  return std::max(deadline, pace_.append_again_at_ns);
}

void Member::send(Kind kind, std::string record, bool has_condition, Instants now) {
  WEIR_CHECK(std::holds_alternative<std::monostate>(asked_));
  asked_ = InFlight{.kind = kind,
                    .has_condition = has_condition,
                    .bytes = record,
                    .head = {.position = fold_.head().position + 1, .crc = crc64_xz(record)},
                    .sent_boot_ns = now.boot_ns};
  port_->append(has_condition ? std::optional(fold_.head()) : std::nullopt, std::move(record));
}

void Member::send_claim(bool has_condition, bool waits, Instants now) {
  if (!owns()) role_ = Role::kClaiming;
  ++figures_.claims;
  if (timeline_.is_cold()) ++figures_.cold_claims;
  claim_due_ = ClaimDue::kNo;
  const Claim claim{
      .author = options_.self,
      .instant_ns = office_ != Office::kNone ? port_->instant_ns() : timeline_.at(now),
      .times = times_};
  send(Kind::kClaim, maker_.make(fold_, port_->random(), claim), has_condition, now);
  claims_.sent({.crc = std::get<InFlight>(asked_).head.crc, .waits = waits});
}

}  // namespace weir::storage::replication
