#include "storage/replication/member.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/crc64.h"

namespace weir::storage::replication {

Member::Member(const MemberOptions& options, const LocalTurns* local, MemberActions* port,
               int64_t newest_instant_ns)
    : state_(options, local, port, newest_instant_ns),
      absorber_(&state_),
      maker_(options.records) {}

void Member::sealed(uint64_t turn, std::string_view record) {
  WEIR_CHECK(may_seal());
  state_.held.seal(turn, record);
}

bool Member::appended(const Appended& answer, Instants now, While when) {
  InFlight* const in_flight = std::get_if<InFlight>(&state_.asked);
  if (in_flight == nullptr) return true;
  if (when == While::kInATurn) {
    const bool settles = answer.outcome == Appended::Outcome::kDone && in_flight->has_condition &&
                         answer.head == in_flight->head && may_seal();
    const bool is_claim = in_flight->kind == Kind::kClaim;
    if (!settles || is_claim || !state_.catch_up.is_at_end()) return false;
  }
  const InFlight sent = std::move(*in_flight);
  state_.asked = std::monostate();
  if (state_.role == Role::kStopped) return true;
  if (state_.role == Role::kClaiming) state_.role = Role::kFollowing;
  const bool is_done = answer.outcome == Appended::Outcome::kDone;
  if (is_done && sent.has_condition) {
    if (answer.head != sent.head) {  // the condition was ignored
      state_.stop(Reason::kDamaged);
      return true;
    }
    if (absorber_.absorb({.head = sent.head, .bytes = sent.bytes}, now))
      state_.acknowledge(sent.sent_boot_ns, now);
    if (when == While::kBetweenTurns) tick(now);
    return true;
  }
  state_.catch_up.must_read();
  if (is_done) {
    state_.claim_ahead = sent;
    state_.claim_ahead->head = answer.head;
    tick(now);
    return true;
  }
  state_.unsettled = is_primary();
  if (sent.kind == Kind::kClaim && !is_primary()) state_.failure_detector.unacknowledged_claim();
  if (answer.outcome == Appended::Outcome::kUnknown || !is_primary()) {
    state_.pace.append_again_at_ns = Pace::after_failure(now.boot_ns, state_.port->random());
  } else {
    state_.refused_at = state_.log_state.head();
  }
  tick(now);
  return true;
}

void Member::read(const Read& answer, Instants now) {
  if (!std::holds_alternative<MemberState::Reading>(state_.asked)) return;
  state_.asked = std::monostate();
  if (state_.role == Role::kStopped) return;
  absorber_.take(answer, now);
  tick(now);
}

void Member::switch_over(std::string to, Instants now) {
  if (!may_seal()) return;
  state_.role = Role::kSwitchingOver;
  state_.switchover = {.to = std::move(to), .is_sent = false};
  tick(now);
}

void Member::claim_by_operator(Instants now) {
  if (state_.role == Role::kStopped || is_primary()) return;
  state_.claim_due = ClaimDue::kByOperator;
  tick(now);
}

void Member::change_times(const Times& times, Instants now) {
  state_.times = times;
  if (is_primary())
    state_.claim_due =
        state_.times != state_.log_state.times() ? ClaimDue::kForTimes : ClaimDue::kNo;
  tick(now);
}

// Does the next thing, if nothing is in flight. Every event ends here.
void Member::tick(Instants now, While when) {
  if (state_.lease.may_let_out(now.boot_ns))
    state_.let_out_turn = std::max(state_.let_out_turn, state_.committed_turn);
  if (state_.role == Role::kStopped || state_.is_asking()) return;
  if (when == While::kInATurn && (!state_.catch_up.is_at_end() || !may_seal())) return;
  if (!state_.catch_up.is_at_end()) {
    if (now.boot_ns < state_.pace.read_again_at_ns) return;
    state_.asked = MemberState::Reading();
    const BookmarkSearch* const search = state_.catch_up.search();
    return search ? state_.port->read(search->probe(), 0)
                  : state_.port->read(state_.log_state.head(), kReadBytes);
  }
  if (!is_primary()) return standby_step(now);
  state_.serve_if_ready(now);
  primary_step(now, when);
}

bool Member::may_answer_reads(int64_t boot_ns) const {
  const bool serves =
      state_.primary_state == PrimaryState::kServing && is_primary() && !state_.switchover.is_sent;
  const int64_t lease_ns = std::min(state_.times.lease_ns, state_.log_state.times().lease_ns);
  return serves && state_.lease.covers(boot_ns, lease_ns) && state_.lease.may_let_out(boot_ns);
}

bool Member::may_release_early(int64_t boot_ns) const {
  const InFlight* const in_flight = std::get_if<InFlight>(&state_.asked);
  const bool claims = in_flight != nullptr && in_flight->kind == Kind::kClaim;
  return may_seal() && !claims &&
         state_.lease.covers(boot_ns, state_.options.early_release_ns_max) &&
         state_.lease.may_let_out(boot_ns);
}

int64_t Member::next_deadline() const {
  if (state_.role == Role::kStopped) return kNever;
  int64_t deadline = kNever;
  if (state_.let_out_turn < state_.committed_turn) deadline = state_.lease.silent_until_ns();
  if (state_.is_asking()) return deadline;
  if (!state_.catch_up.is_at_end()) return std::min(deadline, state_.pace.read_again_at_ns);
  if (is_primary()) return std::min(deadline, primary_deadline());
  return std::min(deadline, state_.claim_due == ClaimDue::kByOperator ? 0 : state_.pace.poll_at_ns);
}

// The member has read to the end.
void Member::standby_step(Instants now) {
  if (std::exchange(state_.claim_due, ClaimDue::kNo) == ClaimDue::kByOperator) {
    if (state_.log_state.has_begun()) return send_claim(false, true, now);
  }
  if (now.boot_ns >= state_.pace.append_again_at_ns && may_claim())
    return send_claim(true, false, now);
  if (now.boot_ns < state_.pace.poll_at_ns) return;
  state_.catch_up.must_read();
  tick(now);
}

bool Member::may_claim() const {
  if (state_.role != Role::kFollowing || !state_.log_state.has_begun()) return false;
  if (state_.log_state.newest_turn() > state_.held.newest_local()) return false;  // it lacks turns
  if (state_.log_state.has_no_primary() ||
      state_.log_state.switchover_to() == state_.options.self.node)
    return true;
  return state_.failure_detector.is_over(state_.times, state_.log_state.times());
}

// The member has read to the end and its CLAIM is the current epoch, unless it heals.
void Member::primary_step(Instants now, While when) {
  if (now.boot_ns < primary_deadline()) return;
  if (state_.primary_state == PrimaryState::kClaiming) {
    return send_claim(true, state_.log_state.epoch() != state_.claims.newest(), now);
  }
  const bool only_heartbeats = when == While::kInATurn;
  const bool lacks_turns = !only_heartbeats && state_.held.newest() >= state_.log_state.next_turn();
  // Its address and its instant stand in the log every so often, however much there is to append.
  const bool must_send_heartbeat =
      may_seal() && now.boot_ns >= state_.pace.heartbeat_sent_at_ns + Pace::kHeartbeatNsMax;
  if (lacks_turns && !must_send_heartbeat &&
      (!may_seal() ||
       now.boot_ns >= state_.pace.turns_sent_at_ns + state_.options.append_interval_ns)) {
    state_.pace.turns_sent_at_ns = now.boot_ns;
    return send(Kind::kTurns,
                maker_.make_turns(state_.log_state, state_.port->random(), state_.held), true, now);
  }
  const bool is_drained = !lacks_turns && state_.committed_turn == state_.log_state.newest_turn();
  if (state_.role == Role::kSwitchingOver && (state_.switchover.is_sent || is_drained)) {
    state_.switchover.is_sent = true;
    const Switchover record{.to = state_.switchover.to, .instant_ns = state_.port->instant_ns()};
    return send(Kind::kSwitchover, maker_.make(state_.log_state, state_.port->random(), record),
                true, now);
  }
  if (state_.claim_due == ClaimDue::kForTimes && !only_heartbeats)
    return send_claim(true, false, now);
  const int64_t heartbeat_ns = state_.pace.heartbeat_deadline(
      state_.lease.sent_boot_ns(), state_.log_state.times().failover_after_ns);
  if (!state_.unsettled && now.boot_ns < heartbeat_ns) return;
  state_.pace.heartbeat_sent_at_ns = now.boot_ns;
  const Heartbeat heartbeat{.author = state_.options.self,
                            .instant_ns = state_.primary_state != PrimaryState::kNone
                                              ? state_.port->instant_ns()
                                              : state_.timeline.at(now),
                            .written_back_turn = state_.port->written_back_turn()};
  send(Kind::kHeartbeat, maker_.make(state_.log_state, state_.port->random(), heartbeat), true,
       now);
}

int64_t Member::primary_deadline() const {
  const bool lacks_turns = state_.held.newest() >= state_.log_state.next_turn();
  const bool at_once = state_.unsettled || state_.claim_due == ClaimDue::kForTimes ||
                       state_.role == Role::kSwitchingOver ||
                       state_.primary_state == PrimaryState::kClaiming ||
                       (lacks_turns && !may_seal());
  if (at_once) return state_.pace.append_again_at_ns;
  int64_t deadline = state_.pace.heartbeat_deadline(state_.lease.sent_boot_ns(),
                                                    state_.log_state.times().failover_after_ns);
  if (state_.primary_state != PrimaryState::kServing)
    deadline = std::min(deadline, state_.lease.silent_until_ns());
  if (lacks_turns) {
    deadline = std::min(deadline, state_.pace.turns_sent_at_ns + state_.options.append_interval_ns);
  }
  return std::max(deadline, state_.pace.append_again_at_ns);
}

void Member::send(Kind kind, std::string record, bool has_condition, Instants now) {
  WEIR_CHECK(!state_.is_asking());
  state_.asked = InFlight{
      .kind = kind,
      .has_condition = has_condition,
      .bytes = record,
      .head = {.log_index = state_.log_state.head().log_index + 1, .crc = crc64_xz(record)},
      .sent_boot_ns = now.boot_ns};
  state_.port->append(has_condition ? std::optional(state_.log_state.head()) : std::nullopt,
                      std::move(record));
}

void Member::send_claim(bool has_condition, bool waits, Instants now) {
  if (!is_primary()) state_.role = Role::kClaiming;
  ++state_.metrics.claims;
  if (state_.timeline.is_cold()) ++state_.metrics.cold_claims;
  state_.claim_due = ClaimDue::kNo;
  const Claim claim{.author = state_.options.self,
                    .instant_ns = state_.primary_state != PrimaryState::kNone
                                      ? state_.port->instant_ns()
                                      : state_.timeline.at(now),
                    .times = state_.times};
  send(Kind::kClaim, maker_.make(state_.log_state, state_.port->random(), claim), has_condition,
       now);
  state_.claims.sent({.crc = std::get<InFlight>(state_.asked).head.crc, .waits = waits});
}

std::string describe(const Member& member) {
  static constexpr const char* kRoles[] = {"joining", "following",      "claiming",
                                           "primary", "switching over", "stopped"};
  const MemberState& state = member.state_;
  std::string text = kRoles[static_cast<int>(state.role)];
  const auto head = [&](const char* name, const Head& value) {
    text += std::string(" ") + name + " " + std::to_string(value.log_index) + "/" +
            std::to_string(value.crc % 10000);
  };
  const auto number = [&](const char* name, uint64_t value) {
    text += std::string(" ") + name + " " + std::to_string(value);
  };
  head("head", state.log_state.head());
  head("epoch", state.log_state.epoch());
  number("next", state.log_state.next_turn());
  number("local", state.held.newest_local());
  number("newest", state.held.newest());
  number("committed", state.committed_turn);
  number("out", state.let_out_turn);
  number("primary state", static_cast<uint64_t>(state.primary_state));
  number("own", state.claims.is_own(state.log_state.epoch()));
  text += state.unsettled ? " unsettled" : "";
  text += state.catch_up.is_at_end() ? "" : " must-read";
  text += std::holds_alternative<MemberState::Reading>(state.asked) ? " reading" : "";
  text += state.catch_up.search() ? " searching" : "";
  text += state.switchover.is_sent ? " switchover-sent" : "";
  text += state.held.has_accepted() ? " accepted" : "";
  if (const auto* sent = std::get_if<MemberState::InFlight>(&state.asked))
    number("in-flight", static_cast<uint64_t>(sent->kind));
  return text;
}

}  // namespace weir::storage::replication
