// Schedules about logs that lose their end, local logs that do, and strange records.
#include "tests/replication/schedules.h"
#include "tests/replication/time_units.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

StageOptions lossy_options_with(const Flaws& flaws) {
  StageOptions options = options_with(flaws);
  options.loses_acknowledged = true;
  return options;
}

void commit_turns(Stage* stage, size_t member, int turns) {
  for (int i = 0; i < turns; ++i) {
    demand(stage->write(member), "the primary takes a write");
    stage->append_all(member);
  }
}

// A is the primary and has committed three turns, each in a record of its own; B follows.
void begin_with_records(Stage* stage) {
  stage->elect(kA);
  stage->start(kB);
  commit_turns(stage, kA, 3);
  stage->read_all(kB);
}

size_t size_of(Stage* stage) { return stage->log().size(stage->log().leader()); }

}  // namespace

// B has read a HEARTBEAT that the engine lost. Turn 4 gets the same log index.
void rewind_to_same_log_index(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  stage.pass(kSecond);
  stage.tick(kA);
  demand(stage.has_append(kA), "A sends a HEARTBEAT");
  stage.execute(kA);
  stage.read_all(kB);
  stage.fail_over(stage.log().durable(0));
  stage.give_up(kA);
  stage.pass(kSecond);
  demand(stage.write(kA), "A is primary still");
  stage.append_all(kA);
  stage.end(kA);
  stage.elect(kB);
  demand(stage.checker().chain().turns() == 4, "turn 4 is in the log");
  stage.settle(kSecond);
}

void power_cut_inside_a_record(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  for (int i = 0; i < 4; ++i) stage.write(kA);  // the last three travel together
  stage.append_all(kA);
  stage.disk(kB)->sync();
  stage.read_all(kB);
  stage.end(kB);
  stage.disk(kB)->cut_power(1);
  stage.start(kB);
  stage.read_all(kB);
  commit_turns(&stage, kA, 1);
  stage.read_all(kB);
  stage.settle(kSecond);
}

// What only the standby has left is appended again when it is promoted.
void primary_and_engine_die_standby_ahead(const Flaws& flaws) {
  Stage stage(lossy_options_with(flaws));
  begin_with_records(&stage);
  const size_t before = size_of(&stage);
  commit_turns(&stage, kA, 2);
  stage.read_all(kB);
  stage.end(kA);
  stage.fail_over(before - 1);
  stage.elect(kB);
  demand(stage.checker().chain().turns() == 5, "all five turns are in the log again");
  stage.settle(3 * kSecond);
}

// B's CLAIM is lost, and A, which was primary before, goes on appending.
void own_claim_lost_predecessor_appends(const Flaws& flaws) {
  for (const bool commits : {false, true}) {
    Stage stage(lossy_options_with(flaws));
    begin_with_records(&stage);
    const size_t before = size_of(&stage);
    demand(stage.wait_for_claim(kB, 5 * kSecond), "B claims");
    stage.append_all(kB);
    stage.write(kB);
    if (commits) stage.append_all(kB);
    stage.fail_over(before);
    commit_turns(&stage, kA, 1);
    if (stage.has_append(kB)) stage.give_up(kB);
    stage.pass(kSecond);
    stage.append_all(kB);
    demand(stage.process(kB).has_stopped() == commits, "B stops if it had committed other turns");
    demand(!stage.is_promoted(kB), "B is not primary");
    demand(stage.is_promoted(kA), "A is primary");
    stage.settle(kSecond);
  }
}

// B's CLAIM is lost, and A has a lease again. B claims over it and must let the lease run out.
void own_claim_lost_then_read(const Flaws& flaws) {
  Stage stage(lossy_options_with(flaws));
  begin_with_records(&stage);
  const size_t before = size_of(&stage);
  demand(stage.wait_for_claim(kB, 5 * kSecond), "B claims");
  stage.append_all(kB);
  demand(stage.is_promoted(kB), "B is promoted");
  stage.fail_over(before);
  stage.tick(kA);
  demand(stage.has_append(kA), "A sends a HEARTBEAT");
  stage.execute(kA);
  stage.answer(kA);
  demand(stage.may_answer_reads(kA), "A has a lease");
  stage.pass(kSecond / 2);
  stage.append_all(kB);
  stage.pass(kSecond / 2);
  stage.append_all(kB);
  demand(stage.member(kB).is_primary(), "B has claimed again");
  demand(stage.may_answer_reads(kA), "A's lease runs");
  demand(!stage.may_answer_reads(kB) && !stage.is_promoted(kB), "B lets nothing out");
  stage.pass(2 * kSecond);
  stage.append_all(kB);
  demand(stage.is_promoted(kB), "B serves again");
  stage.settle(kSecond);
}

void standby_reconnects_before_primary(const Flaws& flaws) {
  Stage stage(lossy_options_with(flaws));
  begin_with_records(&stage);
  const size_t before = size_of(&stage);
  commit_turns(&stage, kA, 1);
  stage.fail_over(before);
  stage.elect(kB);
  stage.pass(kSecond);
  stage.append_all(kA);
  demand(!stage.is_promoted(kA), "A is fenced");
  demand(stage.member(kA).newest_turn() == stage.member(kA).log_state().next_turn(),
         "A is ahead of the log");
  commit_turns(&stage, kB, 1);
  stage.read_all(kA);
  demand(stage.process(kA).has_stopped(), "A stops: its turn is another one");
  stage.settle(kSecond);
}

void old_leader_still_accepts(const Flaws& flaws) {
  for (const bool acknowledges : {false, true}) {
    StageOptions options = options_with(flaws);
    options.loses_acknowledged = acknowledges;
    Stage stage(options);
    begin_with_records(&stage);
    stage.fail_over(size_of(&stage));
    stage.talk_to(kA, 0);
    stage.write(kA);
    stage.execute(kA);
    if (acknowledges) stage.answer(kA);
    stage.elect(kB);
    commit_turns(&stage, kB, 2);
    stage.talk_to(kA, stage.log().leader());
    if (!acknowledges) stage.give_up(kA);
    stage.pass(kSecond);
    stage.append_all(kA);
    demand(!stage.is_promoted(kA), "A is fenced");
    demand(stage.process(kA).has_stopped() == acknowledges, "A stops if it had committed");
    stage.settle(kSecond);
  }
}

// A has read its own turn 4, which is not committed, when B is promoted.
void fence_with_log_state_ahead(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  stage.write(kA);
  stage.execute(kA);
  stage.make_durable();
  stage.give_up(kA);
  while (stage.has_read(kA)) stage.answer_read(kA);
  stage.elect(kB);
  stage.append_all(kA);
  demand(!stage.is_promoted(kA), "A is fenced");
  demand(stage.checker().agrees(stage.process(kA)), "A has followed its own turn");
  commit_turns(&stage, kB, 1);
  stage.read_all(kA);
  stage.settle(kSecond);
}

// Turn 4 is in the log and nobody acknowledged it; a HEARTBEAT after it is lost.
void heal_with_accepted_unacked(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  stage.write(kA);
  stage.execute(kA);
  stage.make_durable();
  stage.give_up(kA);
  while (stage.has_read(kA)) stage.answer_read(kA);
  stage.pass(kSecond);
  stage.tick(kA);
  demand(stage.has_append(kA), "A sends a HEARTBEAT");
  stage.execute(kA);
  stage.give_up(kA);
  while (stage.has_read(kA)) stage.answer_read(kA);
  stage.fail_over(stage.log().durable(0));
  stage.pass(kSecond);
  stage.append_all(kA);
  demand(stage.is_promoted(kA), "A is primary again");
  demand(stage.member(kA).metrics().rewinds == 1, "A has seen the rewind");
  demand(!stage.process(kA).owes_replies(), "the reply of turn 4 leaves");
  commit_turns(&stage, kA, 1);
  stage.settle(kSecond);
}

// What a member does not understand it does not skip: another one may understand it.
void unknown_record_version(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  stage.checker().expect_stops();
  std::string record =
      encode_record({.nonce = 9, .shard = kShard, .epoch = stage.member(kA).log_state().epoch()},
                    Switchover{.to = "B"});
  record[1] = kRecordVersion + 1;
  stage.append_raw(record);
  stage.pass(kSecond);
  stage.append_all(kA);
  stage.read_all(kB);
  for (const size_t member : {kA, kB}) {
    demand(stage.process(member).has_stopped(),
           "a member stops at a version that it does not know");
    demand(!stage.is_promoted(member), "a stopped member is no primary");
  }
}

void overlapping_turns_are_void(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  const std::string turn = make_turn(1, 2, 3);
  stage.append_raw(
      encode_record({.nonce = 9, .shard = kShard, .epoch = stage.member(kA).log_state().epoch()},
                    Turns{.first_turn = 3, .turns = {turn, turn, turn}}));
  commit_turns(&stage, kA, 2);
  stage.read_all(kB);
  demand(stage.checker().chain().void_records() == 1, "the record is void");
  demand(stage.checker().chain().turns() == 5, "no turn of it counts");
  demand(stage.checker().agrees(stage.process(kB)), "B skips it too");
  stage.settle(kSecond);
}

void trim_under_reader(const Flaws& flaws) {
  Stage stage(options_with(flaws));
  begin_with_records(&stage);
  commit_turns(&stage, kA, 3);
  stage.checker().expect_stops();
  stage.log().trim(0, size_of(&stage) - 1);
  stage.read_all(kB);
  demand(stage.process(kB).has_stopped(), "B needs a snapshot");
  commit_turns(&stage, kA, 1);
  stage.settle(kSecond);
}

// A young member has one bookmark. A newer one of the same turn must not take its place, or a
// rewind leaves it without any that the log confirms.
void oldest_bookmark_is_kept(const Flaws& flaws) {
  Stage stage(lossy_options_with(flaws));
  stage.elect(kA);
  stage.start(kB);
  for (int i = 0; i < 20; ++i) {
    stage.pass(4 * kSecond);
    stage.append_all(kA);
    stage.read_all(kB);
  }
  stage.fail_over(1);
  stage.settle(10 * kSecond);
}

// A's turn 4 is on its way when A is demoted. After a later promotion the log goes back to the
// first epoch, and turn 4 arrives: it is A's own, and it is not what A has sealed since.
void append_of_an_earlier_promotion(const Flaws& flaws) {
  Stage stage(lossy_options_with(flaws));
  begin_with_records(&stage);
  const size_t before = size_of(&stage);
  stage.write(kA);
  stage.give_up(kA);
  while (stage.has_read(kA)) stage.answer_read(kA);
  stage.elect(kB);
  stage.pass(kSecond);
  stage.append_all(kA);
  demand(!stage.is_promoted(kA), "A is fenced");
  stage.end(kB);
  stage.elect(kA);
  stage.write(kA);
  stage.fail_over(before);
  stage.execute_lost(0, true);
  stage.give_up(kA);
  stage.pass(kSecond);
  stage.append_all(kA);
  demand(!stage.process(kA).has_stopped(), "nothing that A has committed differs");
  demand(!stage.is_promoted(kA), "it is demoted, and loses what it had sealed");
  stage.settle(10 * kSecond);
}

}  // namespace weir::storage::replication
