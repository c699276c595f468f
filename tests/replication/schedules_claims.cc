// Schedules about commits, claims, leases and switchovers. A, B and C are members 0, 1 and 2.
#include "tests/replication/schedules.h"
#include "tests/replication/time_units.h"

namespace weir::storage::replication {
namespace {

// A is the primary and has committed some turns, B follows.
void begin_with_turns(Stage* stage) {
  stage->elect(kA);
  stage->start(kB);
  for (int i = 0; i < 3; ++i) stage->write(kA);
  stage->append_all(kA);
  stage->read_all(kB);
}

// The member writes, and its reply leaves.
void write_and_release(Stage* stage, size_t member) {
  demand(stage->write(member), "the primary takes a write");
  stage->append_all(member);
  demand(!stage->process(member).owes_replies(), "the reply leaves");
}

}  // namespace

// The primary's row is visible before the engine's standby has it. The primary reads it, and then
// the engine fails over.
void visible_row_then_failover(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  stage.write(kA);
  stage.execute(kA);
  stage.give_up(kA);
  while (stage.has_read(kA)) stage.answer_read(kA);
  demand(stage.process(kA).owes_replies(), "no reply on the strength of a row that was read");
  stage.fail_over(stage.log().durable(0));
  stage.settle(10 * kSecond);
}

void claim_unknown_then_found(const Flaws& flaws) {
  for (const bool is_late : {false, true}) {
    Stage stage(options_with(flaws));
    begin_with_turns(&stage);
    stage.end(kA);
    demand(stage.wait_for_claim(kB, 5 * kSecond), "B claims");
    if (!is_late) stage.execute(kB);
    stage.give_up(kB);
    if (is_late) {
      stage.be_silent(kB, kSecond);
      demand(!stage.is_promoted(kB), "no promotion without the CLAIM");
      stage.execute_lost(0);
    }
    stage.pass(kSecond);
    stage.tick(kB);
    while (stage.has_read(kB)) stage.answer_read(kB);
    demand(stage.member(kB).role() == Role::kPrimary, "B finds its CLAIM");
    demand(!stage.is_promoted(kB), "no promotion before an acknowledgement");
    stage.pass(kSecond);
    stage.append_all(kB);
    demand(stage.is_promoted(kB), "B is promoted");
    stage.settle(kSecond);
  }
}

// From the moment when SWITCHOVER is sent its author answers no read: B may claim at once.
void switchover_then_read(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  stage.switch_over(kA, "B");
  demand(stage.has_append(kA), "SWITCHOVER is sent");
  stage.execute(kA);
  stage.make_durable();
  stage.elect(kB);
  write_and_release(&stage, kB);
  stage.ask_to_read(kA);
  stage.answer(kA);
  stage.settle(kSecond);
}

void switchover_unknown_then_late(const Flaws& flaws) {
  for (const bool late_one_wins : {false, true}) {
    Stage stage(options_with(flaws));
    begin_with_turns(&stage);
    stage.switch_over(kA, "B");
    stage.give_up(kA);
    while (stage.has_read(kA)) stage.answer_read(kA);
    demand(!stage.member(kA).may_answer_reads(0), "no reads after SWITCHOVER was sent");
    stage.pass(kSecond);
    stage.tick(kA);
    demand(stage.has_append(kA), "SWITCHOVER is sent again");
    if (late_one_wins) stage.execute_lost(0);
    stage.append_all(kA);
    if (!late_one_wins) stage.execute_lost(0);
    demand(stage.member(kA).role() == Role::kFollowing, "A is a standby");
    stage.elect(kB);
    write_and_release(&stage, kB);
    stage.settle(kSecond);
  }
}

// Instants are those of the shard: no takeover gives or takes what a clock is wrong by, and what
// each leaves behind (here a poll of 200 ms and some steps) is no more than that.
void hundred_switchovers_wrong_clocks(const Flaws& flaws) {
  for (const int64_t error_ns : {400 * kMs, 3600 * kSecond}) {
    Stage stage(options_with(flaws));
    stage.set_wall_error(kA, 0);
    stage.set_wall_error(kB, error_ns);
    begin_with_turns(&stage);
    for (int i = 1; i <= 100; ++i) {
      const size_t from = i % 2 == 1 ? kA : kB;
      const size_t to = 1 - from;
      stage.switch_over(from, to == kA ? "A" : "B");
      stage.append_all(from);
      stage.read_all(to);
      stage.append_all(to);
      write_and_release(&stage, to);
      stage.read_all(from);
      const Chain& chain = stage.checker().chain();
      const int64_t ahead_ns = turn_instant_ns(chain.turn(chain.turns())) - stage.real_ns();
      demand(ahead_ns <= error_ns, "instants are not ahead of every clock");
      demand(ahead_ns >= -i * 500 * kMs, "instants are not far behind");
    }
    stage.settle(kSecond);
  }
}

// A CLAIM without condition proves nothing about the lease of the primary before.
void operator_claim_then_read(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  stage.claim_by_operator(kB);
  stage.append_all(kB);
  if (stage.is_promoted(kB)) write_and_release(&stage, kB);
  demand(stage.ask_to_read(kA), "A believes that it is primary");
  demand(!stage.process(kA).owes_replies(), "A's lease runs");
  stage.pass(2 * kSecond);
  stage.append_all(kB);
  demand(stage.is_promoted(kB), "B is promoted after 1.25 leases");
  stage.settle(kSecond);
}

// B's CLAIM names an epoch that the log has lost when it comes.
void operator_claim_on_a_rewound_log(const Flaws& flaws) {
  StageOptions options = options_with(flaws);
  options.loses_acknowledged = true;
  Stage stage(options);
  begin_with_turns(&stage);
  const size_t before = stage.log().size(0);
  stage.end(kA);
  stage.elect(kB);
  stage.end(kB);
  stage.start(kB);
  stage.append_all(kB);
  stage.fail_over(before);
  stage.claim_by_operator(kB);
  demand(stage.has_append(kB), "B claims before it has seen the rewind");
  stage.append_all(kB);
  stage.settle(10 * kSecond);
}

namespace {

// B claims as early as it ever will, and A answers a read as late as it ever will.
void claim_and_read(const StageOptions& options, const Times& of_a, const Times& of_b) {
  Stage stage(options);
  stage.set_times(kA, of_a);
  stage.set_times(kB, of_b);
  begin_with_turns(&stage);
  stage.write(kA);  // acknowledged now: the lease begins
  stage.append_all(kA);
  demand(stage.wait_for_claim(kB, 10 * kSecond), "B claims");
  stage.append_all(kB);
  if (stage.is_promoted(kB)) write_and_release(&stage, kB);
  stage.ask_to_read(kA);
  stage.settle(kSecond);
}

}  // namespace

void mixed_failover_after(const Flaws& flaws) {
  claim_and_read(options_with(flaws), {.lease_ns = 3 * kSecond, .failover_after_ns = 4 * kSecond},
                 {.lease_ns = 750 * kMs, .failover_after_ns = kSecond});
}

void lease_longer_than_count(const Flaws& flaws) {
  const Times times{.lease_ns = 3 * kSecond, .failover_after_ns = 2 * kSecond};
  claim_and_read(options_with(flaws), times, times);
}

// A copied directory is started while the original is the primary.
void twin_of_a_node(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  const size_t twin = stage.add_copy(kA);
  stage.start(twin);
  stage.append_all(twin);
  if (stage.is_promoted(twin)) write_and_release(&stage, twin);
  stage.ask_to_read(kA);
  demand(!stage.process(kA).owes_replies(), "A is primary");
  stage.settle(kSecond);
}

// Reads succeed and no append does: nobody is deposed, and B asks less and less often.
void appends_only_outage(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  stage.write(kA);
  for (int i = 0; i < 400; ++i, stage.pass(100 * kMs)) {
    for (const size_t member : {kA, kB}) {
      stage.tick(member);
      while (stage.has_read(member)) stage.answer_read(member);
      if (i % 30 == 29 && stage.has_append(member)) stage.give_up(member);
    }
  }
  demand(stage.member(kB).metrics().claims <= 5, "B claims seldom");
  stage.append_all(kA);
  demand(stage.is_promoted(kA), "A is primary still");
  demand(!stage.process(kA).owes_replies(), "A commits what it had");
  stage.settle(kSecond);
}

void slow_polls_still_fail_over(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_turns(&stage);
  stage.end(kA);
  int polls = 0;
  for (; polls < 15 && !stage.has_append(kB); ++polls) {
    stage.pass(100 * kMs);
    stage.tick(kB);
    stage.pass(800 * kMs);
    if (stage.has_read(kB)) stage.answer_read(kB);
  }
  demand(stage.has_append(kB), "B claims though each poll takes 900 ms");
  stage.settle(5 * kSecond);
}

}  // namespace weir::storage::replication
