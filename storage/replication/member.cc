// The member's life: events, offices and what may leave.
#include "storage/replication/member.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::storage::replication {
namespace {

Fold fold_of_newest_stamp(const LocalTurns& local, uint64_t shard) {
  const std::vector<Stamp> stamps = local.stamps();
  return stamps.empty() ? Fold(shard) : Fold(shard, stamps.back());
}

}  // namespace

Member::Member(const MemberOptions& options, const LocalTurns* local, Port* port,
               int64_t newest_instant_ns)
    : options_(options),
      maker_(options.records),
      local_(local),
      port_(port),
      times_(options.times),
      fold_(fold_of_newest_stamp(*local, options.records.shard)),
      held_(local),
      timeline_(newest_instant_ns) {
  silence_.new_record(port_->random());
}

void Member::sealed(uint64_t turn, std::string_view record) {
  WEIR_CHECK(may_seal());
  held_.seal(turn, record);
}

bool Member::appended(const Appended& answer, Instants now, While when) {
  InFlight* const in_flight = std::get_if<InFlight>(&asked_);
  if (in_flight == nullptr) return true;
  if (when == While::kInATurn) {
    const bool settles = answer.outcome == Appended::Outcome::kDone && in_flight->has_condition &&
                         answer.head == in_flight->head && may_seal();
    const bool is_claim = in_flight->kind == Kind::kClaim;
    if (!settles || is_claim || !catch_up_.is_at_end()) return false;
  }
  const InFlight sent = std::move(*in_flight);
  asked_ = std::monostate();
  if (role_ == Role::kStopped) return true;
  if (role_ == Role::kClaiming) role_ = Role::kFollowing;
  const bool is_done = answer.outcome == Appended::Outcome::kDone;
  if (is_done && sent.has_condition) {
    if (answer.head != sent.head) {  // the condition was ignored
      stop(Reason::kDamaged);
      return true;
    }
    if (absorb({.head = sent.head, .bytes = sent.bytes}, now)) acknowledge(sent.sent_boot_ns, now);
    if (when == While::kBetweenTurns) tick(now);
    return true;
  }
  catch_up_.must_read();
  if (is_done) {
    claim_ahead_ = sent;
    claim_ahead_->head = answer.head;
    tick(now);
    return true;
  }
  unsettled_ = owns();
  if (sent.kind == Kind::kClaim && !owns()) silence_.unacknowledged_claim();
  if (answer.outcome == Appended::Outcome::kUnknown || !owns()) {
    pace_.append_again_at_ns = Pace::after_failure(now.boot_ns, port_->random());
  } else {
    refused_at_ = fold_.head();
  }
  tick(now);
  return true;
}

void Member::hand_over(std::string to, Instants now) {
  if (!may_seal()) return;
  role_ = Role::kHandingOver;
  hand_over_ = {.to = std::move(to), .is_sent = false};
  tick(now);
}

void Member::claim_by_operator(Instants now) {
  if (role_ == Role::kStopped || owns()) return;
  claim_due_ = ClaimDue::kByOperator;
  tick(now);
}

void Member::change_times(const Times& times, Instants now) {
  times_ = times;
  if (owns()) claim_due_ = times_ != fold_.times() ? ClaimDue::kForTimes : ClaimDue::kNo;
  tick(now);
}

// Does the next thing, if nothing is in flight. Every event ends here.
void Member::tick(Instants now, While when) {
  if (lease_.may_let_out(now.boot_ns)) let_out_turn_ = std::max(let_out_turn_, committed_turn_);
  const bool is_waiting = !std::holds_alternative<std::monostate>(asked_);
  if (role_ == Role::kStopped || is_waiting) return;
  if (when == While::kInATurn && (!catch_up_.is_at_end() || !may_seal())) return;
  if (!catch_up_.is_at_end()) {
    if (now.boot_ns < pace_.read_again_at_ns) return;
    asked_ = Reading();
    const StampSearch* const search = catch_up_.search();
    return search ? port_->read(search->probe(), 0) : port_->read(fold_.head(), kReadBytes);
  }
  if (!owns()) return standby_step(now);
  serve_if_ready(now);
  owner_step(now, when);
}

bool Member::may_seal() const { return office_ == Office::kServing && role_ == Role::kOwning; }

bool Member::may_answer_reads(int64_t boot_ns) const {
  const bool serves = office_ == Office::kServing && owns() && !hand_over_.is_sent;
  const int64_t lease_ns = std::min(times_.lease_ns, fold_.times().lease_ns);
  return serves && lease_.covers(boot_ns, lease_ns) && lease_.may_let_out(boot_ns);
}

bool Member::may_release_early(int64_t boot_ns) const {
  const InFlight* const in_flight = std::get_if<InFlight>(&asked_);
  const bool claims = in_flight != nullptr && in_flight->kind == Kind::kClaim;
  return may_seal() && !claims && lease_.covers(boot_ns, options_.early_release_ns_max) &&
         lease_.may_let_out(boot_ns);
}

// A CLAIM of this process is the current epoch.
void Member::elect(int64_t wait_ns, Instants now) {
  if (!owns()) {
    role_ = Role::kOwning;
    hand_over_ = {};
    unsettled_ = true;
    pace_.beat_sent_at_ns = now.boot_ns;
  }
  lease_.begin_epoch(wait_ns);
  claim_due_ = times_ != fold_.times() ? ClaimDue::kForTimes : ClaimDue::kNo;
  if (office_ == Office::kServing) return;  // only its times have changed
  if (office_ != Office::kNone) office_ = Office::kAppending;
  append_again_until_ = newest_turn();
  committed_turn_ = fold_.newest_turn();
  if (held_.has_accepted()) committed_turn_ = held_.first_accepted() - 1;
  if (office_ == Office::kNone) let_out_turn_ = committed_turn_;
}

void Member::acknowledge(int64_t sent_boot_ns, Instants now) {
  lease_.acknowledge(sent_boot_ns, now.boot_ns);
  unsettled_ = false;
  for (const Batch& batch : held_.take_accepted()) {
    port_->commit(batch);
    held_.wrote(batch);
    committed_turn_ = batch.last_turn();
  }
  restamp_if_due(now);
}

// Office is taken, or taken up again after a rewind, when everything that this member held beyond
// the log is committed and no other lease can run.
void Member::serve_if_ready(Instants now) {
  if (office_ != Office::kNone && office_ != Office::kAppending) return;
  if (!lease_.is_acknowledged() || committed_turn_ < append_again_until_) return;
  if (!lease_.may_let_out(now.boot_ns)) return;
  if (std::exchange(office_, Office::kServing) != Office::kNone) return;
  ++figures_.offices;
  port_->take_office(timeline_.at(now));
}

void Member::lose_office(Reason reason) {
  office_ = Office::kNone;
  step_down();
  port_->lose_office(reason);
  held_.drop_sealed();
  fold_ = fold_of_newest_stamp(*local_, options_.records.shard);
  catch_up_.end_search();
}

void Member::step_down() {
  role_ = Role::kFollowing;
  held_.drop_sealed();
  claims_.spend_all();
  lease_.end();
  committed_turn_ = let_out_turn_;
  unsettled_ = false;
  claim_due_ = ClaimDue::kNo;
  hand_over_ = {};
  silence_.new_record(port_->random());
}

void Member::stop(Reason reason) {
  if (office_ != Office::kNone) lose_office(reason);
  role_ = Role::kStopped;
  catch_up_.end_search();
  port_->stop(reason);
}

int64_t Member::next_deadline() const {
  if (role_ == Role::kStopped) return kNever;
  int64_t deadline = kNever;
  if (let_out_turn_ < committed_turn_) deadline = lease_.silent_until_ns();
  if (!std::holds_alternative<std::monostate>(asked_)) return deadline;
  if (!catch_up_.is_at_end()) return std::min(deadline, pace_.read_again_at_ns);
  if (owns()) return std::min(deadline, owner_deadline());
  return std::min(deadline, claim_due_ == ClaimDue::kByOperator ? 0 : pace_.poll_at_ns);
}

std::string describe(const Member& member) {
  static constexpr const char* kRoles[] = {"joining", "following",    "claiming",
                                           "owning",  "handing over", "stopped"};
  std::string text = kRoles[static_cast<int>(member.role_)];
  const auto head = [&](const char* name, const Head& value) {
    text += std::string(" ") + name + " " + std::to_string(value.position) + "/" +
            std::to_string(value.crc % 10000);
  };
  const auto number = [&](const char* name, uint64_t value) {
    text += std::string(" ") + name + " " + std::to_string(value);
  };
  head("head", member.fold_.head());
  head("epoch", member.fold_.epoch());
  number("next", member.fold_.next_turn());
  number("local", member.held_.newest_local());
  number("newest", member.held_.newest());
  number("committed", member.committed_turn_);
  number("out", member.let_out_turn_);
  number("office", static_cast<uint64_t>(member.office_));
  number("own", member.claims_.is_own(member.fold_.epoch()));
  text += member.unsettled_ ? " unsettled" : "";
  text += member.catch_up_.is_at_end() ? "" : " must-read";
  text += std::holds_alternative<Member::Reading>(member.asked_) ? " reading" : "";
  text += member.catch_up_.search() ? " searching" : "";
  text += member.hand_over_.is_sent ? " handover-sent" : "";
  text += member.held_.has_accepted() ? " accepted" : "";
  if (const auto* sent = std::get_if<Member::InFlight>(&member.asked_))
    number("in-flight", static_cast<uint64_t>(sent->kind));
  return text;
}

}  // namespace weir::storage::replication
