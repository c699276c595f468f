#!/usr/bin/env python3
"""Copies a source file of storage/replication/ and plants the faults of FAULTS in the copy.

    make_mutants.py SOURCE TARGET

Each fault is asleep until a test wakes it by its letter (mutation.h). A place that is not found
exactly once is an error, so that the faults follow the code.
"""

import re
import sys
from pathlib import Path

# File -> (what stands there, what stands there in the copy).
FAULTS = {
    "log_state.cc": [
        # No epoch rule.
        ("if (epoch.log_index < epoch_.log_index) return Validity::kVoid;",
         "const bool any_epoch = mutated('f') || mutated('n');"
         "\nif (!any_epoch && epoch.log_index < epoch_.log_index) return Validity::kVoid;\n"),
        # A claim over an epoch that was lost is impossible, which stops everybody.
        ("if (epoch != epoch_) { return record.kind() == Kind::kClaim ?",
         "if (!any_epoch && epoch != epoch_) {"
         "return record.kind() == Kind::kClaim && !mutated('p') ?"),
        # No turn numbers.
        ("if (turns.first_turn < next_turn_) return Validity::kVoid;",
         "if (mutated('F') && parts_ == 0) return Validity::kValid;"
         "if (turns.first_turn < next_turn_) return Validity::kVoid;"),
        # What is not understood is skipped.
        ("if (!record || record->envelope.shard != shard_ || head.log_index != head_.log_index + 1) {",
         "if (!record || record->envelope.shard != shard_ || head.log_index != head_.log_index + 1) {"
         "if (mutated('l')) { head_ = head; outcome.validity = Validity::kVoid; }"),
        ("if (outcome.validity == Validity::kImpossible) return outcome;",
         "if (mutated('l') && outcome.validity == Validity::kImpossible)"
         " outcome.validity = Validity::kVoid;"
         "if (outcome.validity == Validity::kImpossible) return outcome;"),
        # Turns that begin too low count as far as they reach beyond.
        ("if (turns.first_turn < next_turn_) return Validity::kVoid;",
         "if (mutated('V') && turns.first_turn + turns.turns.size() > next_turn_)"
         " return Validity::kValid;"
         "if (turns.first_turn < next_turn_) return Validity::kVoid;"),
        # A SWITCHOVER counts when it is not the end of the log any more.
        ("switchover_to_.clear();", "if (!mutated('W')) switchover_to_.clear();"),
    ],
    "failure_detector.cc": [
        # Claims in vain do not make it wait longer.
        ("claim < unacknowledged_claims_", "!mutated('D') && claim < unacknowledged_claims_"),
        # A read that comes late starts the count again.
        ("last_read_ns_ = boot_ns;",
         "if (mutated('P') && last_read_ns_ && boot_ns - *last_read_ns_ > 4 * kStepMaxNs / 2)"
         " sum_ns_ = 0;\nlast_read_ns_ = boot_ns;"),
        # A pause of the standby itself counts.
        ("boot_ns - *last_read_ns_, 0, kStepMaxNs);",
         "boot_ns - *last_read_ns_, 0, mutated('r') ? INT64_MAX : kStepMaxNs);"),
        # A failed read does not start the count again.
        ("void FailureDetector::failed_read() { sum_ns_ = 0;",
         "void FailureDetector::failed_read() { if (!mutated('u')) sum_ns_ = 0;"),
        # The lease may be longer than the count.
        ("current.lease_ns + current.lease_ns / 3 + 1});",
         "mutated('i') ? 0 : current.lease_ns + current.lease_ns / 3 + 1});"
         "if (mutated('I')) wanted = own.failover_after_ns;"),
    ],
    "member.cc": [
        # A Member that finds its own condition ignored stops; these look for what others see.
        ("if (answer.head != sent.head)",
         "if (!mutated('e') && !mutated('f') && !mutated('F') && answer.head != sent.head)"),
        # The lease counts from the answer.
        ("state_.acknowledge(sent.sent_boot_ns,",
         "state_.acknowledge(mutated('Z') ? now.boot_ns : sent.sent_boot_ns,"),
        # A shorter lease counts only when it is acknowledged.
        ("std::min(state_.times.lease_ns, state_.log_state.times().lease_ns)",
         "std::min(mutated('3') ? INT64_MAX : state_.times.lease_ns, state_.log_state.times().lease_ns)"),
        # Reads are answered after SWITCHOVER was sent.
        ("is_primary() && !state_.switchover.is_sent;",
         "is_primary() && (mutated('d') || !state_.switchover.is_sent);"),
        # Reads are answered without a lease.
        ("return serves && state_.lease.covers(boot_ns, lease_ns)",
         "return serves && (mutated('s') || state_.lease.covers(boot_ns, lease_ns))"),
        # No HEARTBEAT where there is always something to append.
        ("if (lacks_turns && !must_send_heartbeat &&", "if (lacks_turns && (mutated('E') || !must_send_heartbeat) &&"),
        # After a SWITCHOVER of unknown outcome a HEARTBEAT settles what became of it.
        ("(state_.switchover.is_sent || is_drained)",
         "(mutated('H') ? !state_.switchover.is_sent && is_drained"
         " : state_.switchover.is_sent || is_drained)"),
        # An earlier process of the same node has a shortcut to the role.
        ("if (state_.log_state.has_no_primary() ||",
         "if (mutated('g') && state_.log_state.primary().node == state_.options.self.node) return true;"
         "if (state_.log_state.has_no_primary() ||"),
        # An operator's claim does not wait for the lease before.
        ("return send_claim(false, true, now);", "return send_claim(false, !mutated('j'), now);"),
        # A primary whose own claim was lost does not wait either.
        ("return send_claim(true, state_.log_state.epoch() != state_.claims.newest(), now);",
         "return send_claim(true, state_.log_state.epoch() != state_.claims.newest() && !mutated('o'),"
         " now);"),
    ],
    "member_state.cc": [
        # An epoch is one's own after its demotion.
        ("claims.spend_all();", "if (!mutated('J')) claims.spend_all();"),
        # Promotion without appending again what the log lacks.
        ("append_again_until = held.newest();",
         "append_again_until = mutated('c') ? 0 : held.newest();"),
        # The log state stays where it is at a demotion.
        ("log_state = log_state_of_newest_bookmark(*local, options.records.shard); catch_up.",
         "if (!mutated('k')) log_state = log_state_of_newest_bookmark(*local, options.records.shard);"
         "\ncatch_up."),
        # The oldest bookmark is replaced.
        ("if (bookmarks.empty() || bookmarks.front().turn() >= log_state.newest_turn()) return;",
         "if (!mutated('q') && (bookmarks.empty() || bookmarks.front().turn() >= log_state.newest_turn()))"
         " return;"),
    ],
    "absorber.cc": [
        # Reading one's own record commits it. A primary goes on after a rewind without a CLAIM.
        ("if (state_.primary_state == PrimaryState::kReading) state_.primary_state = PrimaryState::kClaiming;",
         "if (mutated('h') && state_.is_primary()) state_.acknowledge(state_.lease.sent_boot_ns(), now);"
         "if (state_.primary_state == PrimaryState::kReading)"
         " state_.primary_state = mutated('8') ? PrimaryState::kAppending : PrimaryState::kClaiming;"),
        # A CLAIM that was found by reading counts at once.
        ("if (state_.claim_ahead && state_.claim_ahead->head == head)",
         "if (mutated('C')) state_.acknowledge(now.boot_ns, now);"
         "if (state_.claim_ahead && state_.claim_ahead->head == head)"),
        # A primary that finds its predecessor's turns stops, whatever it had committed.
        ("} else if (match == Match::kLocalDiffers) {",
         "} else if (match == Match::kLocalDiffers || mutated('L')) {"),
        # Turns that one has are not compared.
        ("if (match == Match::kSame ||", "if (mutated('S') || match == Match::kSame ||"),
        # What was trimmed is taken for the end of the log.
        ("} else if (answer.outcome == Outcome::kTrimmed) { state_.stop(Reason::kTrimmed);",
         "} else if (answer.outcome == Outcome::kTrimmed) {"
         "if (mutated('R')) reach_end(false, now); else state_.stop(Reason::kTrimmed);"),
        # What was accepted is forgotten when the log is read again.
        ("state_.held.accept(std::move(batch));",
         "if (!mutated('K') || state_.primary_state != PrimaryState::kReading)"
         " state_.held.accept(std::move(batch));"),
        # What was committed leaves while the log is looked through.
        ("state_.committed_turn = state_.let_out_turn;",
         "if (!mutated('A')) state_.committed_turn = state_.let_out_turn;"),
    ],
    "held_turns.cc": [
        # Only a Violation is seen here, the end of the process is not.
        ("WEIR_CHECK(bytes.has_value());",
         'if (!bytes) throw Violation("a turn is not kept that must be appended again");'),
    ],
    "primary_clock.cc": [
        # Instants jump to the wall clock.
        ("elapsed_ns / 1'000'000 * kSlewPpm;",
         "mutated('z') ? INT64_MAX : elapsed_ns / 1'000'000 * kSlewPpm;"),
    ],
    "early_release.cc": [
        # Replies are counted, not permits.
        ("permits_ + permits > options_.permits_max",
         "(mutated('U') ? released_.size() + 1 : permits_ + permits) > options_.permits_max"),
        # The age of the newest counts.
        ("released_.front().sealed_boot_ns <",
         "(mutated('M') ? released_.back() : released_.front()).sealed_boot_ns <"),
    ],
    "trimming.cc": [
        # The record of a bookmark goes too.
        ("log_index == 0 ? 0 : log_index - 1;",
         "log_index == 0 ? 0 : mutated('t') ? log_index : log_index - 1;"),
        # The member registry is not asked.
        ("before(registry.needed_from()));", "mutated('B') ? UINT64_MAX : before(registry.needed_from()));"),
    ],
    "log_rows.cc": [
        # A hole is taken for what was trimmed.
        ("!= ++log_index || !is_whole) return outcome_of(Read::Outcome::kDamaged);",
         "!= ++log_index || !is_whole)"
         " return outcome_of(mutated('G') ? Read::Outcome::kTrimmed : Read::Outcome::kDamaged);"),
    ],
    "record_maker.cc": [
        # Turns that are appended again have other bytes.
        ("std::string next = held.bytes_of(turn);",
         "std::string next = held.bytes_of(turn);"
         "if (mutated('m') && (turn <= held.newest_local() || turn < held.newest()))"
         " next.back() = static_cast<char>(next.back() ^ 1);"),
    ],
}


def plant(text, place, fault, source):
    pattern = r"\s+".join(re.escape(word) for word in place.split())
    text, count = re.subn(pattern, lambda match: "\n" + fault.replace(";if", ";\nif") + "\n", text)
    if count != 1:
        sys.exit(f"{source}: {count} places, 1 is needed: {place}")
    return text


def main():
    source, target = map(Path, sys.argv[1:])
    text = source.read_text()
    for place, fault in FAULTS.get(source.name, []):
        text = plant(text, place, fault, source)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'#include "tests/replication/mutants/mutation.h"\n{text}')


if __name__ == "__main__":
    main()
