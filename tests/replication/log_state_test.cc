#include "storage/replication/log_state.h"

#include <gtest/gtest.h>

#include "base/crc64.h"

namespace weir::storage::replication {
namespace {

constexpr uint64_t kLogStateShard = 7;
constexpr Times kLogStateTimes = {.lease_ns = 15, .failover_after_ns = 20};

Author author(const std::string& node) {
  return {.node = node, .address = node + ":7000", .incarnation = {1, 2}};
}

Claim claim_of(const std::string& node) {
  return {.author = author(node), .instant_ns = 1, .times = kLogStateTimes};
}

Genesis genesis() {
  Genesis genesis;
  genesis.first_turn = 5;
  return genesis;
}

// A log that is read while it is written.
class LogStateTest : public testing::Test {
 protected:
  LogStateTest() { EXPECT_EQ(put(genesis(), {}), Validity::kValid); }

  Validity put_bytes(const std::string& bytes) {
    const Head head{.log_index = log_state_.head().log_index + 1, .crc = crc64_xz(bytes)};
    outcome_ = log_state_.apply(head, bytes);
    return outcome_.validity;
  }
  Validity put(const Body& body, const Head& epoch, uint64_t shard = kLogStateShard) {
    return put_bytes(encode_record({.nonce = ++nonce_, .shard = shard, .epoch = epoch}, body));
  }
  Validity put(const Body& body) { return put(body, log_state_.epoch()); }
  Validity claim(const std::string& node) { return put(claim_of(node)); }
  Validity turns(uint64_t first, std::vector<std::string_view> turns) {
    return put(Turns{.first_turn = first, .turns = std::move(turns)});
  }
  Validity part(uint64_t turn, uint64_t number, uint64_t count, std::string_view bytes) {
    return put(Part{.turn = turn, .number = number, .count = count, .bytes = bytes});
  }

  LogState log_state_{kLogStateShard};
  LogState::Outcome outcome_;
  uint64_t nonce_ = 0;
};

TEST_F(LogStateTest, GenesisBegins) {
  EXPECT_TRUE(log_state_.has_no_primary());
  EXPECT_EQ(log_state_.next_turn(), 5u);
  EXPECT_EQ(log_state_.epoch(), log_state_.head());
  EXPECT_EQ(log_state_.times(), Times{});
  EXPECT_EQ(put(genesis(), {}), Validity::kImpossible) << "only at the beginning";
  EXPECT_EQ(put(genesis()), Validity::kImpossible);
}

TEST(LogStateBeginning, IsGenesisOnly) {
  LogState log_state(kLogStateShard);
  EXPECT_FALSE(log_state.has_begun());
  const std::string claim =
      encode_record({.nonce = 1, .shard = kLogStateShard, .epoch = {}}, Claim{});
  EXPECT_EQ(log_state.apply({1, crc64_xz(claim)}, claim).validity, Validity::kImpossible);
  EXPECT_FALSE(log_state.has_begun());
}

TEST_F(LogStateTest, TheLastValidClaimNamesThePrimary) {
  EXPECT_EQ(claim("a"), Validity::kValid);
  EXPECT_EQ(log_state_.primary().node, "a");
  EXPECT_EQ(log_state_.times(), kLogStateTimes);
  EXPECT_EQ(claim("b"), Validity::kValid);
  EXPECT_EQ(log_state_.primary().node, "b");
  EXPECT_EQ(log_state_.epoch(), log_state_.head());
  EXPECT_FALSE(log_state_.has_no_primary());
}

// The fault "no epoch rule" shows here only: at the log, the condition fences too.
TEST_F(LogStateTest, RecordsOfAnOlderEpochAreVoid) {
  claim("a");
  const Head old = log_state_.epoch();
  claim("b");
  EXPECT_EQ(put(Turns{.first_turn = 5, .turns = {"x"}}, old), Validity::kVoid);
  EXPECT_EQ(put(Turns{.first_turn = 9, .turns = {"x"}}, old), Validity::kVoid);
  EXPECT_EQ(put(Part{.turn = 5, .number = 1, .count = 2, .bytes = "a"}, old), Validity::kVoid);
  EXPECT_EQ(put(Heartbeat{.author = author("a")}, old), Validity::kVoid);
  EXPECT_EQ(put(claim_of("a"), old), Validity::kVoid);
  EXPECT_EQ(put(Switchover{.to = "c"}, old), Validity::kVoid);
  EXPECT_EQ(log_state_.next_turn(), 5u);
  EXPECT_EQ(log_state_.primary().node, "b");
  EXPECT_EQ(log_state_.switchover_to(), "");
}

TEST_F(LogStateTest, RecordsOfAnUnknownEpochAreImpossibleUnlessTheyClaim) {
  claim("a");
  const Head twin{.log_index = log_state_.epoch().log_index, .crc = log_state_.epoch().crc + 1};
  const Head later{.log_index = log_state_.epoch().log_index + 1, .crc = 1};
  for (const Head& epoch : {twin, later}) {
    EXPECT_EQ(put(Heartbeat{}, epoch), Validity::kImpossible);
    EXPECT_EQ(put(Turns{.first_turn = 5, .turns = {"x"}}, epoch), Validity::kImpossible);
    EXPECT_EQ(put(claim_of("b"), epoch), Validity::kVoid);
  }
  EXPECT_EQ(log_state_.primary().node, "a");
}

TEST_F(LogStateTest, TurnsCountWithoutGaps) {
  claim("a");
  EXPECT_EQ(turns(5, {"five", "six"}), Validity::kValid);
  EXPECT_EQ(outcome_.first_turn, 5u);
  EXPECT_EQ(outcome_.turns, (std::vector<std::string>{"five", "six"}));
  EXPECT_EQ(log_state_.next_turn(), 7u);
  EXPECT_EQ(turns(5, {"five"}), Validity::kVoid);
  EXPECT_EQ(turns(6, {"six", "seven", "eight"}), Validity::kVoid) << "void as a whole";
  EXPECT_TRUE(outcome_.turns.empty());
  EXPECT_EQ(log_state_.next_turn(), 7u);
  EXPECT_EQ(turns(8, {"eight"}), Validity::kImpossible);
  EXPECT_EQ(turns(7, {}), Validity::kImpossible);
  EXPECT_EQ(log_state_.newest_turn(), 6u);
}

TEST_F(LogStateTest, PartsMakeATurn) {
  claim("a");
  EXPECT_EQ(part(5, 2, 3, "b"), Validity::kImpossible) << "the first is missing";
  EXPECT_EQ(part(5, 1, 3, "a"), Validity::kValid);
  EXPECT_EQ(part(5, 1, 3, "a"), Validity::kVoid);
  EXPECT_EQ(part(5, 2, 4, "b"), Validity::kImpossible) << "another count";
  EXPECT_EQ(part(5, 4, 3, "d"), Validity::kImpossible);
  EXPECT_EQ(part(5, 0, 3, "z"), Validity::kImpossible);
  EXPECT_EQ(turns(5, {"x"}), Validity::kImpossible) << "between parts";
  EXPECT_EQ(put(Switchover{.to = "b"}), Validity::kImpossible) << "between parts";
  EXPECT_EQ(put(Heartbeat{}), Validity::kValid);
  EXPECT_EQ(part(5, 2, 3, "b"), Validity::kValid);
  EXPECT_EQ(log_state_.parts(), 2u);
  EXPECT_EQ(part(5, 3, 3, "c"), Validity::kValid);
  EXPECT_EQ(outcome_.turns, std::vector<std::string>{"abc"});
  EXPECT_EQ(log_state_.next_turn(), 6u);
  EXPECT_EQ(log_state_.parts(), 0u);
  EXPECT_EQ(part(5, 3, 3, "c"), Validity::kVoid);
  EXPECT_EQ(part(7, 1, 3, "a"), Validity::kImpossible);
}

// An author may send a part again whose fate it does not know.
TEST_F(LogStateTest, APartTwiceIsVoidAndCountsOnce) {
  claim("a");
  EXPECT_EQ(part(5, 1, 3, "a"), Validity::kValid);
  EXPECT_EQ(part(5, 2, 3, "b"), Validity::kValid);
  EXPECT_EQ(part(5, 2, 3, "b"), Validity::kVoid);
  EXPECT_EQ(part(5, 1, 3, "a"), Validity::kVoid);
  EXPECT_EQ(log_state_.parts(), 2u);
  EXPECT_EQ(part(5, 3, 3, "c"), Validity::kValid);
  EXPECT_EQ(outcome_.turns, std::vector<std::string>{"abc"});
  EXPECT_EQ(part(5, 3, 3, "c"), Validity::kVoid);
  EXPECT_TRUE(outcome_.turns.empty());
  EXPECT_EQ(log_state_.next_turn(), 6u);
}

TEST_F(LogStateTest, PartsHaveABound) {
  claim("a");
  const std::string large(LogState::kPartsBytesMax / 4, 'a');
  for (uint64_t number = 1; number <= 4; ++number)
    EXPECT_EQ(part(5, number, UINT64_MAX, large), Validity::kValid);
  EXPECT_EQ(part(5, 5, UINT64_MAX, "b"), Validity::kImpossible);
  EXPECT_EQ(log_state_.parts(), 4u);
}

TEST_F(LogStateTest, AClaimDropsUnfinishedParts) {
  claim("a");
  part(5, 1, 2, "a");
  claim("b");
  EXPECT_EQ(log_state_.parts(), 0u);
  EXPECT_EQ(turns(5, {"x"}), Validity::kValid);
}

TEST_F(LogStateTest, ASwitchoverCountsWhileItIsTheEnd) {
  claim("a");
  EXPECT_EQ(put(Switchover{.to = "b"}), Validity::kValid);
  EXPECT_EQ(log_state_.switchover_to(), "b");
  EXPECT_EQ(turns(1, {"void"}), Validity::kVoid);
  EXPECT_EQ(log_state_.switchover_to(), "") << "a void record is an end too";
}

TEST_F(LogStateTest, WhatIsNotUnderstoodIsImpossibleAndChangesNothing) {
  claim("a");
  const Head before = log_state_.head();
  EXPECT_EQ(put_bytes("no record"), Validity::kImpossible);
  EXPECT_EQ(put(Heartbeat{}, log_state_.epoch(), kLogStateShard + 1), Validity::kImpossible)
      << "a foreign shard";
  std::string newer = encode_record(
      {.nonce = 1, .shard = kLogStateShard, .epoch = log_state_.epoch()}, Heartbeat{});
  newer[1] = kRecordVersion + 1;
  EXPECT_EQ(put_bytes(newer), Validity::kImpossible);
  const std::string heartbeat = encode_record(
      {.nonce = 1, .shard = kLogStateShard, .epoch = log_state_.epoch()}, Heartbeat{});
  EXPECT_EQ(log_state_.apply({before.log_index + 2, crc64_xz(heartbeat)}, heartbeat).validity,
            Validity::kImpossible)
      << "a gap";
  EXPECT_EQ(log_state_.head(), before);
}

// A shard with a part of the slots has version 2 from GENESIS on, and means the same by it.
TEST(LogStateOfAPart, Version2MeansWhatVersion1Means) {
  LogState log_state(kLogStateShard);
  Genesis founded = genesis();
  founded.origin = {.slots = {{0, 5460}}, .instance = {.ms = 1, .random = 2}};
  const auto put = [&](const Body& body, const Head& epoch) {
    const std::string bytes = encode_record(
        {.nonce = 1, .shard = kLogStateShard, .epoch = epoch, .version = kRecordVersion}, body);
    EXPECT_EQ(bytes[1], 2);
    const Head head{.log_index = log_state.head().log_index + 1, .crc = crc64_xz(bytes)};
    return log_state.apply(head, bytes).validity;
  };
  EXPECT_EQ(put(founded, {}), Validity::kValid);
  EXPECT_EQ(put(claim_of("a"), log_state.epoch()), Validity::kValid);
  EXPECT_EQ(put(Turns{.first_turn = 5, .turns = {"five"}}, log_state.epoch()), Validity::kValid);
  EXPECT_EQ(put(Switchover{.to = "b"}, log_state.epoch()), Validity::kValid);
  EXPECT_EQ(log_state.next_turn(), 6u);
  EXPECT_EQ(log_state.switchover_to(), "b");
}

TEST_F(LogStateTest, GoesOnAfterABookmark) {
  claim("a");
  turns(5, {"five"});
  LogState other(kLogStateShard, *decode_bookmark(encode_bookmark(log_state_.bookmark())));
  EXPECT_EQ(other.bookmark(), log_state_.bookmark());
  EXPECT_EQ(other.primary().node, "") << "until its next record";
  const std::string next =
      encode_record({.nonce = 1, .shard = kLogStateShard, .epoch = log_state_.epoch()},
                    Turns{.first_turn = 6, .turns = {"six"}});
  const Head head{.log_index = log_state_.head().log_index + 1, .crc = crc64_xz(next)};
  EXPECT_EQ(other.apply(head, next).validity, Validity::kValid);
  EXPECT_EQ(log_state_.apply(head, next).validity, Validity::kValid);
  EXPECT_EQ(other.bookmark(), log_state_.bookmark());
}

}  // namespace
}  // namespace weir::storage::replication
