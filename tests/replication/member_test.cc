// What the schedules do not show of a Member: options, records as they are cut, and times.
#include "storage/replication/member.h"

#include <gtest/gtest.h>

#include "tests/replication/stage.h"
#include "tests/replication/time_units.h"

namespace weir::storage::replication {
namespace {

std::vector<DecodedRecord> records_of(Stage* stage, Kind kind) {
  std::vector<DecodedRecord> found;
  for (const Record& record : stage->log().records(stage->log().leader())) {
    auto decoded = decode_record(record.bytes);
    if (decoded->kind() == kind) found.push_back(std::move(*decoded));
  }
  return found;
}

TEST(Member, ClaimsAYoungShardAtOnce) {
  Stage stage({});
  stage.elect(kA);
  EXPECT_EQ(records_of(&stage, Kind::kClaim).size(), 1u);
  EXPECT_EQ(stage.member(kA).metrics().promotions, 1u);
  EXPECT_EQ(stage.member(kA).log_state().primary().node, "A");
}

TEST(Member, WaitsForGenesis) {
  StageOptions options;
  options.members = 1;
  Stage stage(options);
  stage.fail_over(0);
  stage.start(kA);
  EXPECT_FALSE(stage.wait_for_claim(kA, 20 * kSecond)) << "an empty log is not a new shard";
  EXPECT_EQ(stage.member(kA).role(), Role::kFollowing);
}

// A command holds the loop.
TEST(Member, SendsOnlyHeartbeatsInTheMiddleOfATurn) {
  StageOptions options;
  options.process.runs_long = true;
  Stage stage(options);
  stage.elect(kA);
  stage.append_all(kA);
  Member& member = stage.process(kA).member();
  const Instants now = stage.clocks(kA);
  const auto after = [&](int64_t ns) { return Instants{now.boot_ns + ns, now.wall_ns + ns}; };
  member.sealed(member.newest_turn() + 1, "turn");
  member.tick(after(kMs), While::kInATurn);
  EXPECT_FALSE(stage.has_append(kA)) << "no turn is sent";
  member.tick(after(600 * kMs), While::kInATurn);
  ASSERT_TRUE(stage.has_append(kA));
  EXPECT_FALSE(member.appended({.outcome = Appended::Outcome::kRefused, .head = {}},
                               after(700 * kMs), While::kInATurn))
      << "what may cost the role waits";
  EXPECT_FALSE(member.appended({.outcome = Appended::Outcome::kUnknown, .head = {}},
                               after(700 * kMs), While::kInATurn));
  EXPECT_TRUE(member.is_primary());
}

TEST(Member, OneAppendTakesAllTurnsSealedSinceTheLast) {
  Stage stage({});
  stage.elect(kA);
  for (int i = 0; i < 6; ++i) stage.write(kA);
  stage.append_all(kA);
  const auto turns = records_of(&stage, Kind::kTurns);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(std::get<Turns>(turns[0].body).turns.size(), 1u);
  EXPECT_EQ(std::get<Turns>(turns[1].body).turns.size(), 5u);
}

TEST(Member, ARecordHasAtMostSoManyBytesAndAtLeastOneTurn) {
  StageOptions options;
  options.process.record_bytes_max = 60;  // two turns of 25 bytes
  Stage stage(options);
  stage.elect(kA);
  stage.write(kA, 9);
  stage.append_all(kA);
  for (const DecodedRecord& record : records_of(&stage, Kind::kTurns)) {
    EXPECT_LE(std::get<Turns>(record.body).turns.size(), 2u);
  }
  EXPECT_EQ(stage.checker().chain().turns(), 9u);
}

// What is appended again is the same turns, perhaps cut otherwise, in records of other identity.
TEST(Member, TurnsAppendedAgainHaveTheSameBytes) {
  Stage stage({});
  stage.elect(kA);
  stage.write(kA);
  stage.execute(kA);
  stage.write(kA, 2);
  const size_t lost = stage.log().size(0) - 1;
  const auto before = records_of(&stage, Kind::kTurns);
  ASSERT_EQ(before.size(), 1u);
  const std::string turn(std::get<Turns>(before[0].body).turns[0]);
  const uint64_t nonce = before[0].envelope.nonce;
  stage.fail_over(lost);
  stage.give_up(kA);
  stage.pass(kSecond);
  stage.append_all(kA);
  const auto again = records_of(&stage, Kind::kTurns);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<Turns>(again[0].body).turns.size(), 3u);
  EXPECT_EQ(std::get<Turns>(again[0].body).turns[0], turn);
  EXPECT_NE(again[0].envelope.nonce, nonce);
}

TEST(Member, ALargeTurnTravelsInParts) {
  StageOptions options;
  options.process.part_bytes_max = 10;
  Stage stage(options);
  stage.elect(kA);
  stage.start(kB);
  stage.write(kA, 2);
  stage.execute(kA);
  stage.make_durable();
  stage.give_up(kA);  // the first part is there, and its author must find out
  stage.pass(kSecond);
  stage.append_all(kA);
  EXPECT_EQ(records_of(&stage, Kind::kPart).size(), 6u);
  EXPECT_TRUE(records_of(&stage, Kind::kTurns).empty());
  stage.read_all(kB);
  EXPECT_TRUE(stage.checker().agrees(stage.process(kB)));
  EXPECT_FALSE(stage.process(kA).owes_replies());
}

TEST(Member, SendsHeartbeatsWhenIdle) {
  Stage stage({});
  stage.elect(kA);
  const size_t before = stage.log().size(0);
  for (int i = 0; i < 200; ++i, stage.pass(50 * kMs)) stage.append_all(kA);
  const size_t heartbeats = stage.log().size(0) - before;
  EXPECT_GE(heartbeats, 18u);
  EXPECT_LE(heartbeats, 20u);
}

TEST(Member, SendsHeartbeatsUnderLoadSoThatItsAddressIsKnown) {
  Stage stage({});
  stage.elect(kA);
  for (int i = 0; i < 120; ++i, stage.pass(100 * kMs)) {
    stage.write(kA);
    stage.append_all(kA);
  }
  EXPECT_EQ(records_of(&stage, Kind::kHeartbeat).size(), 2u);
}

// A primary that has more turns to append whenever an append is answered.
TEST(Member, SendsHeartbeatsHoweverMuchThereIsToAppend) {
  Stage stage({});
  stage.elect(kA);
  stage.write(kA);
  for (int i = 0; i < 120; ++i, stage.pass(100 * kMs)) {
    stage.write(kA);
    ASSERT_TRUE(stage.has_append(kA));
    stage.execute(kA);
    stage.make_durable();
    stage.answer(kA);
  }
  EXPECT_EQ(records_of(&stage, Kind::kHeartbeat).size(), 2u);
}

// A wrong address, or a database whose tables are gone: nothing is invented.
TEST(Member, AnEmptiedLogStopsEverybody) {
  StageOptions options;
  options.loses_acknowledged = true;
  Stage stage(options);
  stage.elect(kA);
  stage.start(kB);
  stage.write(kA);
  stage.append_all(kA);
  stage.read_all(kB);
  stage.end(kB);
  stage.fail_over(0);
  stage.start(kB);
  stage.pass(kSecond);
  stage.append_all(kA);
  stage.read_all(kB);
  for (const size_t member : {kA, kB}) {
    EXPECT_TRUE(stage.process(member).has_stopped());
    EXPECT_EQ(stage.process(member).stop_reason(), Reason::kRewoundTooFar);
  }
  EXPECT_EQ(stage.log().size(stage.log().leader()), 0u);
}

// With a lease of 0 a read waits for an append that was sent after it.
TEST(Member, KnowsWhatWasAcknowledgedSince) {
  Stage stage({});
  const int64_t boot_ns = 1000 * kSecond;
  EXPECT_EQ(stage.is_up(kA), false);
  stage.elect(kA);
  EXPECT_TRUE(stage.member(kA).acknowledged_since(boot_ns));
  EXPECT_FALSE(stage.member(kA).acknowledged_since(boot_ns + kSecond));
  stage.pass(kSecond);
  stage.append_all(kA);  // a HEARTBEAT
  EXPECT_TRUE(stage.member(kA).acknowledged_since(boot_ns + kSecond));
  stage.switch_over(kA, "B");
  EXPECT_TRUE(stage.member(kA).acknowledged_since(boot_ns + kSecond)) << "it was the primary then";
  EXPECT_FALSE(stage.member(kA).acknowledged_since(boot_ns + 2 * kSecond));
  EXPECT_FALSE(stage.member(kA).may_answer_reads(boot_ns + kSecond));
}

// A reply that waits for another lease to run out does not leave while the log is looked through:
// what was committed may be what was lost.
TEST(Member, LetsNothingOutWhileItHeals) {
  StageOptions options;
  options.loses_acknowledged = true;
  Stage stage(options);
  stage.elect(kA);
  const size_t before = stage.log().size(0);
  stage.change_times(kA, {.lease_ns = kSecond, .failover_after_ns = 2 * kSecond});
  stage.append_all(kA);
  stage.write(kA);
  const auto lose = [&] {
    stage.fail_over(before);
    if (!stage.has_append(kA)) {
      stage.pass(kSecond);
      stage.tick(kA);
    }
    stage.give_up(kA);
  };
  lose();  // the CLAIM for other times and the turn
  while (stage.has_read(kA)) stage.answer_read(kA);
  stage.pass(kSecond);
  stage.append_all(kA);  // claims again, appends the turn, and waits for 1.25 leases
  ASSERT_EQ(stage.checker().chain().turns(), 1u);
  ASSERT_TRUE(stage.process(kA).owes_replies());
  lose();
  ASSERT_TRUE(stage.has_read(kA));
  stage.answer_read(kA);
  stage.pass(5 * kSecond);
  stage.tick(kA);
  EXPECT_TRUE(stage.process(kA).owes_replies());
  stage.append_all(kA);
  stage.pass(5 * kSecond);
  stage.append_all(kA);
  EXPECT_FALSE(stage.process(kA).owes_replies());
  EXPECT_EQ(stage.checker().chain().turns(), 1u);
}

TEST(Member, TimesOfTheCurrentClaimCount) {
  Stage stage({});
  stage.elect(kA);
  const int64_t boot_ns = 1000 * kSecond;
  EXPECT_EQ(stage.member(kA).log_state().times().lease_ns, 1500 * kMs);
  const auto lasts = [&](int64_t ns) { return stage.member(kA).may_answer_reads(boot_ns + ns); };
  const auto sent = [&] {
    int64_t ns = 0;
    while (lasts(ns)) ns += kMs;
    return ns;
  };
  const int64_t before = sent();
  Process& process = stage.process(kA);
  process.change_times({.lease_ns = 750 * kMs, .failover_after_ns = kSecond},
                       {.boot_ns = boot_ns, .wall_ns = 0});
  EXPECT_EQ(sent(), before - 750 * kMs) << "a shorter lease counts at once";
  EXPECT_TRUE(stage.is_promoted(kA));
  stage.append_all(kA);
  EXPECT_EQ(stage.member(kA).log_state().times().lease_ns, 750 * kMs);
  process.change_times({.lease_ns = 9 * kSecond, .failover_after_ns = 12 * kSecond},
                       {.boot_ns = boot_ns, .wall_ns = 0});
  EXPECT_LE(sent(), before) << "a longer one counts when it is acknowledged";
  stage.append_all(kA);
  EXPECT_GT(sent(), before + 7 * kSecond);
  EXPECT_EQ(records_of(&stage, Kind::kClaim).size(), 3u);
  EXPECT_EQ(stage.member(kA).metrics().promotions, 1u);
}

TEST(Member, RepliesLeaveEarlyForALimitedTime) {
  StageOptions options;
  options.process.early.age_ns_max = 10 * kSecond;
  Stage stage(options);
  stage.elect(kA);
  const int64_t boot_ns = 1000 * kSecond;
  EXPECT_TRUE(stage.member(kA).may_release_early(boot_ns + 9 * kSecond));
  EXPECT_FALSE(stage.member(kA).may_release_early(boot_ns + 11 * kSecond));
  stage.switch_over(kA, "B");
  EXPECT_FALSE(stage.member(kA).may_release_early(boot_ns));
}

TEST(Member, ASwitchoverDrainsFirst) {
  Stage stage({});
  stage.elect(kA);
  stage.start(kB);
  stage.write(kA, 3);
  stage.switch_over(kA, "B");
  EXPECT_FALSE(stage.is_promoted(kA)) << "it seals no more";
  stage.append_all(kA);
  EXPECT_EQ(stage.member(kA).role(), Role::kFollowing);
  EXPECT_EQ(records_of(&stage, Kind::kSwitchover).size(), 1u);
  EXPECT_EQ(stage.checker().chain().turns(), 3u);
  stage.read_all(kB);
  EXPECT_TRUE(stage.has_append(kB)) << "B claims at once";
  stage.append_all(kB);
  EXPECT_TRUE(stage.is_promoted(kB));
}

// The shard was made from a directory with turns. An empty member has not got them.
TEST(Member, AnEmptyMemberOfAnOldShardNeedsASnapshot) {
  StageOptions options;
  options.members = 1;
  Stage stage(options);
  stage.checker().expect_stops();
  stage.fail_over(0);
  stage.append_raw(encode_record({.nonce = 1, .shard = kShard, .epoch = {}},
                                 Genesis{.shard_name = "main", .first_turn = 5}));
  stage.start(kA);
  stage.read_all(kA);
  EXPECT_TRUE(stage.process(kA).has_stopped());
  EXPECT_EQ(stage.process(kA).stop_reason(), Reason::kTrimmed);
}

// What the log may lack after a rewind stays in the local log, whatever is in the state files.
TEST(Member, NeedsTheTurnsThatTheLogLacks) {
  StageOptions options;
  options.loses_acknowledged = true;
  Stage stage(options);
  stage.elect(kA);
  const size_t before = stage.log().size(0);
  for (int i = 0; i < 4; ++i) {
    stage.write(kA);
    stage.append_all(kA);
  }
  EXPECT_EQ(stage.member(kA).turns_needed_from(), 5u);
  stage.fail_over(before + 2);
  stage.pass(kSecond);
  stage.tick(kA);
  stage.give_up(kA);
  stage.answer_read(kA);
  EXPECT_EQ(stage.member(kA).turns_needed_from(), 0u) << "it looks for a common bookmark";
  while (stage.has_read(kA)) stage.answer_read(kA);
  EXPECT_EQ(stage.member(kA).turns_needed_from(), 3u);
  stage.pass(kSecond);
  stage.append_all(kA);
  EXPECT_EQ(stage.member(kA).turns_needed_from(), 5u);
  EXPECT_TRUE(stage.is_promoted(kA));
}

TEST(Member, ARestartIsAStandby) {
  Stage stage({});
  stage.elect(kA);
  stage.write(kA);
  stage.append_all(kA);
  stage.end(kA);
  stage.start(kA);
  stage.read_all(kA);
  EXPECT_FALSE(stage.wait_for_claim(kA, kSecond));
  EXPECT_TRUE(stage.wait_for_claim(kA, 3 * kSecond));
}

}  // namespace
}  // namespace weir::storage::replication
