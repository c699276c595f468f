// What members tell one another, and how far a primary trims.
#include "storage/replication/member_registry.h"

#include <gtest/gtest.h>

#include "storage/replication/trimming.h"

namespace weir::storage::replication {
namespace {

MemberFacts facts_of(const std::string& node, uint64_t bookmark_at) {
  MemberFacts facts;
  facts.author = {.node = node, .address = node + ":6379", .incarnation = {1, 2}};
  facts.role = Role::kFollowing;
  facts.applied_turn = 10 * bookmark_at;
  facts.head = {bookmark_at + 5, 55};
  facts.written_back_turn = bookmark_at;
  facts.written_back_head = {bookmark_at, 66};
  return facts;
}

RegistryEntry entry_of(const MemberFacts& facts, int64_t age_ns = 0) {
  return {.name = facts.author.node, .bytes = encode_facts(facts), .age_ns = age_ns};
}

TEST(MemberRegistry, FactsComeBackAsTheyWere) {
  MemberFacts facts = facts_of("A", 7);
  facts.role = Role::kStopped;
  facts.newest_record_version = 300;
  facts.configuration_digest.fill('c');
  facts.acl_digest.fill('a');
  facts.checkpoint_head = {3, 33};
  const std::string bytes = encode_facts(facts);
  EXPECT_EQ(decode_facts(bytes), facts);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_facts(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(decode_facts(bytes + "x").has_value());
  std::string strange = bytes;
  strange[0] = 2;
  EXPECT_FALSE(decode_facts(strange).has_value()) << "an unknown format";
  const MemberFacts of_a = facts_of("A", 7);
  std::string no_role = encode_facts(of_a);
  no_role[1 + 2 + 7 + 16] = 6;
  EXPECT_FALSE(decode_facts(no_role).has_value());
}

TEST(MemberRegistry, WhatCannotBeReadIsNotThere) {
  const RegistryView view(
      {{.name = "A", .bytes = "what?", .age_ns = 0}, entry_of(facts_of("B", 7))});
  ASSERT_EQ(view.members().size(), 1u);
  EXPECT_EQ(view.members()[0].facts.author.node, "B");
  EXPECT_EQ(RegistryView({}).needed_from(), UINT64_MAX);
}

TEST(MemberRegistry, WhoTellsOfAnotherIsNotThere) {
  RegistryEntry forged = entry_of(facts_of("A", 1));
  forged.name = "B";
  EXPECT_TRUE(RegistryView({forged}).members().empty());
}

// The engine is bounded too, but not every one.
TEST(MemberRegistry, OfManyEntriesTheYoungestCount) {
  std::vector<RegistryEntry> entries;
  for (uint64_t i = 1; i <= 5000; ++i)
    entries.push_back(entry_of(facts_of("n" + std::to_string(i), i), static_cast<int64_t>(i)));
  entries.push_back(entry_of(facts_of("A", 9000)));
  const RegistryView view(entries);
  ASSERT_EQ(view.members().size(), MemberRegistry::kEntriesMax);
  EXPECT_EQ(view.members()[0].facts.author.node, "A");
}

TEST(MemberRegistry, AMemberThatIsListedTwiceIsOne) {
  const RegistryView view({entry_of(facts_of("A", 7), 2000), entry_of(facts_of("B", 7), 5),
                           entry_of(facts_of("A", 9), 1), entry_of(facts_of("A", 8), 3)});
  ASSERT_EQ(view.members().size(), 2u);
  EXPECT_EQ(view.members()[0].facts, facts_of("A", 9)) << "the youngest counts";
  EXPECT_EQ(view.members()[0].age_ns, 1);
  EXPECT_EQ(view.members()[1].facts.author.node, "B");
}

TEST(MemberRegistry, ForgetsAMemberAfterAnHour) {
  const RegistryView view(
      {entry_of(facts_of("A", 7), kNsPerHour - 1), entry_of(facts_of("B", 3), kNsPerHour)});
  EXPECT_EQ(view.members().size(), 1u);
  EXPECT_EQ(view.needed_from(), 7u);
}

TEST(MemberRegistry, StoppedMembersNeedNothingAndSnapshotsDo) {
  MemberFacts stopped = facts_of("A", 2);
  stopped.role = Role::kStopped;
  MemberFacts source = facts_of("B", 9);
  EXPECT_EQ(RegistryView({entry_of(stopped), entry_of(source)}).needed_from(), 9u);
  source.checkpoint_head = {4, 44};
  EXPECT_EQ(RegistryView({entry_of(stopped), entry_of(source)}).needed_from(), 4u);
}

TEST(MemberRegistry, RecordsAreOfAVersionThatAllRead) {
  MemberFacts newer = facts_of("A", 2);
  newer.newest_record_version = kRecordVersion + 5;
  EXPECT_EQ(RegistryView({entry_of(newer)}).record_version(), kRecordVersion)
      << "not newer than this program writes";
  MemberFacts older = facts_of("B", 2);
  older.newest_record_version = 0;
  EXPECT_EQ(RegistryView({entry_of(newer), entry_of(older)}).record_version(), 0u);
  EXPECT_EQ(RegistryView({entry_of(newer), entry_of(older, kNsPerHour)}).record_version(),
            kRecordVersion);
}

// Who knows nothing of members that leave takes one for a member that is starting.
TEST(MemberRegistry, WhoLeavesIsToldAsJoiningWithoutAnIncarnation) {
  MemberFacts leaves = facts_of("A", 7);
  leaves.role = Role::kLeaving;
  MemberFacts joins = facts_of("A", 7);
  joins.role = Role::kJoining;
  EXPECT_EQ(decode_facts(encode_facts(joins)), joins);
  joins.author.incarnation = {};
  EXPECT_EQ(encode_facts(leaves), encode_facts(joins));
  leaves.author.incarnation = {};
  EXPECT_EQ(decode_facts(encode_facts(leaves)), leaves);
  EXPECT_EQ(RegistryView({entry_of(leaves)}).needed_from(), 7u) << "it comes back";
}

// Records of 10 bytes.
Trimming trimming_of(uint64_t records, const TrimOptions& options) {
  Trimming trimming(options);
  for (uint64_t log_index = 1; log_index <= records; ++log_index) trimming.note(log_index, 10);
  return trimming;
}

constexpr TrimOptions kOptions = {.retained_bytes = 100, .bytes_max = 500};

TEST(Trimming, KeepsTheNewestBytes) {
  for (const uint64_t records : {1, 10, 11, 20, 40}) {
    const uint64_t up_to = trimming_of(records, kOptions).up_to(1000, RegistryView({}));
    EXPECT_EQ(up_to, records > 10 ? records - 10 : 0);
  }
}

TEST(Trimming, KeepsTheRecordOfTheBookmarkItself) {
  const Trimming trimming = trimming_of(40, kOptions);
  EXPECT_EQ(trimming.up_to(20, RegistryView({})), 19u);
  EXPECT_EQ(trimming.up_to(0, RegistryView({})), 0u) << "nothing is in the state files";
}

TEST(Trimming, AsksTheRegistryUpToALimit) {
  const RegistryView slow({entry_of(facts_of("B", 5))});
  EXPECT_EQ(trimming_of(40, kOptions).up_to(35, slow), 4u);
  EXPECT_EQ(trimming_of(50, kOptions).up_to(45, slow), 4u);
  EXPECT_EQ(trimming_of(60, kOptions).up_to(45, slow), 10u) << "500 bytes are enough";
  EXPECT_EQ(trimming_of(60, kOptions).up_to(8, slow), 7u) << "the own bookmark counts always";
}

// Whoever can write to the member registry can say what it likes, in the name of every member.
TEST(Trimming, ForgedFactsMoveItBetweenTheTwoBounds) {
  const Trimming trimming = trimming_of(60, kOptions);
  for (const uint64_t log_index : {uint64_t{0}, uint64_t{1}, uint64_t{INT64_MAX}}) {
    MemberFacts forged = facts_of("B", 7);
    forged.head.log_index = forged.written_back_head.log_index = log_index;
    const uint64_t up_to = trimming.up_to(1000, RegistryView({entry_of(forged)}));
    EXPECT_GE(up_to, 10u) << "not more than bytes_max is kept";
    EXPECT_LE(up_to, 50u) << "not less than retained_bytes";
  }
}

// Nobody is known, which is not the same as nobody being there.
TEST(Trimming, WithoutARegistryOnlyTheUpperBoundCounts) {
  const RegistryView unread({entry_of(facts_of("A", 1000))}, false);
  EXPECT_EQ(trimming_of(40, kOptions).up_to(1000, unread), 0u);
  EXPECT_EQ(trimming_of(60, kOptions).up_to(1000, unread), 10u);
}

TEST(Trimming, OfARewoundLogOnlyWhatIsThereCounts) {
  Trimming trimming = trimming_of(40, kOptions);
  for (uint64_t log_index = 15; log_index <= 20; ++log_index) trimming.note(log_index, 10);
  EXPECT_EQ(trimming.up_to(1000, RegistryView({})), 10u);
}

TEST(Trimming, ManyRecordsAreCountedInFewStretches) {
  Trimming trimming({.retained_bytes = 1'000'000, .bytes_max = 4'000'000});
  for (uint64_t log_index = 1; log_index <= 1'000'000; ++log_index) trimming.note(log_index, 10);
  const uint64_t up_to = trimming.up_to(UINT64_MAX, RegistryView({}));
  EXPECT_LE(up_to, 900'000u);
  EXPECT_GE(up_to, 895'000u);
  const RegistryView slow({entry_of(facts_of("B", 5))});
  EXPECT_LE(trimming.up_to(UINT64_MAX, slow), 600'000u);
  EXPECT_GE(trimming.up_to(UINT64_MAX, slow), 595'000u);
}

}  // namespace
}  // namespace weir::storage::replication
