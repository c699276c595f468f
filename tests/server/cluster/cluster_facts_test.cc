// What one member knows of the cluster, as facts come in any order.
#include "server/cluster/cluster_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/server/cluster/facts_fixture.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Heard = ClusterFacts::Heard;

constexpr int64_t kMs = kNsPerMs;
constexpr int64_t kSecond = kNsPerS;

ClusterFacts knows() {
  return ClusterFacts({.cluster = kTestCluster, .shard = "a", .node = node_named("a1")});
}

KnownShard shard_named(const ClusterFacts& facts, const std::string& name, int64_t now_ns) {
  for (const KnownShard& shard : facts.shards(now_ns))
    if (shard.name == name) return shard;
  return {};
}

std::string primary_of(const ClusterFacts& facts, const std::string& name, int64_t now_ns) {
  const KnownShard shard = shard_named(facts, name, now_ns);
  return shard.primary() == nullptr ? "none" : shard.primary()->told.address();
}

TEST(ClusterFacts, KnowWhatMembersTell) {
  ClusterFacts facts = knows();
  EXPECT_EQ(facts.shards(0).size(), 1u) << "the own one, of which nothing is known yet";
  EXPECT_EQ(facts.shard_of(7), "");
  EXPECT_FALSE(facts.is_whole());
  EXPECT_EQ(facts.hear(facts_named("b", 7003, {8192, 16383}), kSecond), Heard::kTaken);
  EXPECT_EQ(facts.hear(facts_named("a", 7001, {0, 8191}), kSecond), Heard::kTaken);
  EXPECT_TRUE(facts.is_whole());
  EXPECT_EQ(facts.shard_of(8191), "a");
  EXPECT_EQ(facts.shard_of(8192), "b");
  const auto shards = facts.shards(3 * kSecond);
  ASSERT_EQ(shards.size(), 2u);
  EXPECT_TRUE(shards[0].is_own);
  EXPECT_TRUE(shards[0].members[0].is_self);
  EXPECT_EQ(shards[1].name, "b");
  EXPECT_EQ(shards[1].heard_ns, 2 * kSecond);
  EXPECT_EQ(shards[1].served_ns, 2 * kSecond);
  EXPECT_EQ(ranges_text(shards[1].slots), "8192-16383:1");
  EXPECT_EQ(primary_of(facts, "b", 0), "10.0.0.1:7003");
  EXPECT_THAT(facts.addresses_of("a", 0), ElementsAre("10.0.0.1:7002")) << "never itself";
  EXPECT_THAT(facts.addresses_of("b", 0), ElementsAre("10.0.0.1:7003", "10.0.0.1:7004"));
}

// As an age is told and passed on.
TEST(ClusterFacts, AgesGoOn) {
  ClusterFacts facts = knows();
  ShardFacts b = facts_named("b", 7003, {0, 1});
  b.members[1].age_ms = 1500;
  facts.hear(b, kSecond);
  EXPECT_EQ(shard_named(facts, "b", 2 * kSecond).members[0].age_ns, kSecond);
  EXPECT_EQ(shard_named(facts, "b", 2 * kSecond).members[1].age_ns, 2'500 * kMs);
  facts.hear(told_by("b2", b), 2 * kSecond);
  EXPECT_EQ(shard_named(facts, "b", 2 * kSecond).members[1].age_ns, 0) << "it has told itself";
}

TEST(ClusterFacts, AnotherClusterIsIgnored) {
  ClusterFacts facts = knows();
  ShardFacts other = facts_named("b", 7003, {0, 16383});
  other.cluster[0] = 'f';
  EXPECT_EQ(facts.hear(other, 0), Heard::kOtherCluster);
  EXPECT_EQ(facts.shards(0).size(), 1u);
  EXPECT_EQ(facts.shard_of(0), "");
}

// What others say of a shard is an address, and no more.
TEST(ClusterFacts, AboutAShardItsOwnMembersCount) {
  ClusterFacts facts = knows();
  ShardFacts b = facts_named("b", 7003, {0, 100});
  b.others = {{.shard = "c", .addresses = {"10.0.0.3:7005"}},
              {.shard = "a", .addresses = {"6.6.6.6:6666"}}};
  facts.hear(b, kSecond);
  const KnownShard c = shard_named(facts, "c", kSecond);
  EXPECT_EQ(c.name, "c");
  EXPECT_THAT(c.members, IsEmpty());
  EXPECT_EQ(c.heard_ns, KnownShard::kNeverHeard);
  EXPECT_THAT(facts.addresses_of("c", 0), ElementsAre("10.0.0.3:7005"));
  EXPECT_THAT(facts.addresses_of("a", 0), IsEmpty()) << "of the own shard this member knows itself";
  EXPECT_THAT(facts.other_shards(), ElementsAre("b", "c"));
  facts.hear(facts_named("c", 7007, {200, 300}), kSecond);
  EXPECT_THAT(facts.addresses_of("c", kSecond),
              ElementsAre("10.0.0.1:7007", "10.0.0.1:7008", "10.0.0.3:7005"));
}

TEST(ClusterFacts, APrimaryThatServesCountsBeforeOthers) {
  ClusterFacts facts = knows();
  const ShardFacts b = facts_named("b", 7003, {0, 1});
  ShardFacts from_standby = told_by("b2", b);
  from_standby.keys = 5;
  facts.hear(b, kSecond);
  facts.hear(from_standby, kSecond + 1);
  EXPECT_EQ(shard_named(facts, "b", kSecond + 1).keys, 0u);
  // Nobody believes for ever one that does not answer any more.
  facts.hear(from_standby, 4 * kSecond);
  EXPECT_EQ(shard_named(facts, "b", 4 * kSecond).keys, 5u);
}

// A primary that was deposed goes on saying that it is the primary until it knows.
TEST(ClusterFacts, TheLatestClaimCounts) {
  ClusterFacts facts = knows();
  const ShardFacts before = facts_named("b", 7003, {0, 1});
  ShardFacts after = told_by("b2", before);
  after.serves = true;
  after.claim = 9;
  after.members[0].is_primary = false;
  after.members[1].is_primary = true;
  facts.hear(before, kSecond);
  facts.hear(after, kSecond + 1);
  facts.hear(before, kSecond + 2);
  EXPECT_EQ(primary_of(facts, "b", kSecond + 2), "10.0.0.1:7004");
  EXPECT_EQ(shard_named(facts, "b", kSecond + 2).claim, 9u);
  // An engine that lost its end has earlier claims again.
  facts.hear(before, 5 * kSecond);
  EXPECT_EQ(primary_of(facts, "b", 5 * kSecond), "10.0.0.1:7003");
}

TEST(ClusterFacts, TheLastPrimaryIsShownWhileNobodyKnowsAnother) {
  ClusterFacts facts = knows();
  const ShardFacts b = facts_named("b", 7003, {0, 1});
  facts.hear(b, kSecond);
  ShardFacts without = told_by("b2", b);
  without.members[0].is_primary = false;
  facts.hear(without, 9 * kSecond);
  EXPECT_EQ(primary_of(facts, "b", 9 * kSecond), "10.0.0.1:7003");
  without.members.erase(without.members.begin());
  facts.hear(without, 10 * kSecond);
  EXPECT_EQ(primary_of(facts, "b", 10 * kSecond), "10.0.0.1:7003") << "it is no member any more";
  EXPECT_EQ(shard_named(facts, "b", 10 * kSecond).served_ns, 9 * kSecond);
}

TEST(ClusterFacts, WhatAMemberTellsOfItselfIsToldOfIt) {
  ClusterFacts facts = knows();
  ShardFacts b = facts_named("b", 7003, {0, 1});
  ShardFacts from_standby = told_by("b2", b);
  from_standby.members[1].hostname = "two.example";
  from_standby.members[1].tls_port = 7104;
  facts.hear(from_standby, kSecond);
  facts.hear(b, kSecond + 1);
  const KnownShard shard = shard_named(facts, "b", 2 * kSecond);
  EXPECT_EQ(shard.members[1].told.hostname, "two.example");
  EXPECT_EQ(shard.members[1].told.tls_port, 7104);
  EXPECT_TRUE(shard.members[0].told.is_primary);
}

TEST(ClusterFacts, ARestoredShardIsNotWhatItWas) {
  ClusterFacts facts = knows();
  ShardFacts before = facts_named("b", 7003, {0, 1});
  before.instance = {.ms = 5, .random = 9};
  ShardFacts after = told_by("b2", facts_named("b", 8003, {0, 1}));
  after.instance = {.ms = 6, .random = 1};
  after.claim = 1;  // its log began anew
  facts.hear(before, kSecond);
  EXPECT_EQ(facts.hear(after, kSecond), Heard::kTaken);
  EXPECT_EQ(facts.hear(before, 9 * kSecond), Heard::kOlderInstance);
  EXPECT_EQ(primary_of(facts, "b", 9 * kSecond), "10.0.0.1:8003");
}

TEST(ClusterFacts, ASlotIsShownForTheHighestVersion) {
  std::vector<ShardFacts> told = {facts_named("b", 1, {0, 100}), facts_named("c", 3, {50, 200}),
                                  facts_named("d", 5, {60, 60})};
  told[2].slots[0].version = 2;
  std::sort(told.begin(), told.end(),
            [](const auto& x, const auto& y) { return x.shard < y.shard; });
  do {
    ClusterFacts facts = knows();
    for (const ShardFacts& one : told) facts.hear(one, 0);
    EXPECT_EQ(facts.shard_of(0), "b");
    EXPECT_EQ(facts.shard_of(50), "b") << "the shard whose name comes first";
    EXPECT_EQ(facts.shard_of(60), "d");
    EXPECT_EQ(facts.shard_of(101), "c");
    EXPECT_EQ(facts.shard_of(201), "");
    EXPECT_EQ(ranges_text(shard_named(facts, "b", 0).slots), "0-59:1 61-100:1");
    // A slot that its shard does not have any more, and nobody else yet.
    ShardFacts later = told[0].shard == "d" ? told[0] : told[1].shard == "d" ? told[1] : told[2];
    later.slots.clear();
    facts.hear(later, kSecond);
    EXPECT_EQ(facts.shard_of(60), "d");
  } while (std::next_permutation(told.begin(), told.end(),
                                 [](const auto& x, const auto& y) { return x.shard < y.shard; }));
}

TEST(ClusterFacts, AShardIsForgotten) {
  ClusterFacts facts = knows();
  facts.hear(facts_named("b", 7003, {0, 100}), 0);
  ShardFacts gone = facts_named("gone", 7005, {50, 100});
  gone.slots[0].version = 2;
  facts.hear(gone, 0);
  EXPECT_EQ(facts.shard_of(50), "gone");
  EXPECT_FALSE(facts.forget("nobody", 0));
  EXPECT_FALSE(facts.forget("a", 0)) << "the own one";
  EXPECT_TRUE(facts.forget("gone", 0));
  EXPECT_EQ(facts.shard_of(50), "b") << "it claims it besides";
  EXPECT_THAT(facts.other_shards(), ElementsAre("b"));
  EXPECT_EQ(facts.file(0).shards.size(), 2u);
  // Others who were not told yet go on telling of it.
  ShardFacts b = facts_named("b", 7003, {0, 100});
  b.others = {{.shard = "gone", .addresses = {"10.0.0.1:7005"}}};
  facts.hear(b, ClusterFacts::kForgottenNs - 1);
  EXPECT_THAT(facts.other_shards(), ElementsAre("b"));
  facts.hear(b, ClusterFacts::kForgottenNs);
  EXPECT_THAT(facts.other_shards(), ElementsAre("b", "gone"));
  facts.forget("gone", ClusterFacts::kForgottenNs);
  facts.hear(gone, ClusterFacts::kForgottenNs);
  EXPECT_EQ(facts.shard_of(50), "gone") << "it tells of itself again";
}

// What is made of them is made anew only then.
TEST(ClusterFacts, TellWhenTheyAreShownOtherwise) {
  ClusterFacts facts = knows();
  ShardFacts b = facts_named("b", 7003, {0, 100});
  const auto changes = [&](const ShardFacts& told) {
    const KnownRevision before = facts.revision();
    facts.hear(told, kSecond);
    const KnownRevision after = facts.revision();
    return std::string(before.members == after.members ? "" : "members ") +
           (before.slots == after.slots ? "" : "slots");
  };
  EXPECT_EQ(changes(b), "members slots");
  b.members[1].turn = 9;
  b.members[1].age_ms = 100;
  b.keys = 9;
  EXPECT_EQ(changes(b), "");
  EXPECT_EQ(shard_named(facts, "b", kSecond).keys, 9u);
  b.members[1].host = "10.0.0.2";
  EXPECT_EQ(changes(b), "members ");
  b.claim = 8;
  EXPECT_EQ(changes(b), "members ");
  b.slots[0].slots.last = 200;
  EXPECT_EQ(changes(b), "slots");
  b.slots[0].slots.last = 100;
  EXPECT_EQ(changes(b), "") << "it is shown for them until another one has them";
  const KnownRevision before = facts.revision();
  facts.forget("b", kSecond);
  EXPECT_NE(facts.revision().slots, before.slots);
}

TEST(ClusterFacts, TellOthersWhereToAsk) {
  ClusterFacts facts = knows();
  facts.hear(facts_named("b", 7003, {0, 1}), 0);
  const auto told = facts.addresses(0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].shard, "b");
  EXPECT_THAT(told[0].addresses, ElementsAre("10.0.0.1:7003", "10.0.0.1:7004"));
}

TEST(ClusterFacts, TheFileKeepsTheMapForTheNextStart) {
  ClusterFacts facts = knows();
  ShardFacts b = facts_named("b", 7003, {8192, 16383});
  b.instance = {.ms = 5, .random = 9};
  b.changes = 4;
  b.slots[0].version = 3;
  b.members[1].hostname = "two.example";
  b.members[1].tls_port = 7104;
  b.members[1].host = "";
  b.members[1].port = 0;
  facts.hear(b, kSecond);
  facts.hear(facts_named("a", 7001, {0, 8191}), kSecond);
  const std::string text = cluster_file_text(facts.file(kSecond));
  const auto file = parse_cluster_file(text);
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(cluster_file_text(*file), text);

  ClusterFacts again = knows();
  again.restore(*file);
  EXPECT_TRUE(again.is_whole());
  EXPECT_EQ(again.shard_of(8192), "b");
  EXPECT_EQ(primary_of(again, "b", 0), "10.0.0.1:7003");
  const KnownShard shown = shard_named(again, "b", 0);
  EXPECT_EQ(shown.heard_ns, KnownShard::kNeverHeard);
  EXPECT_EQ(shown.members[1].age_ns, KnownShard::kNeverHeard);
  EXPECT_EQ(shown.members[1].told.hostname, "two.example");
  EXPECT_EQ(shown.changes, 4u);
  EXPECT_THAT(again.addresses_of("b", 0), ElementsAre("10.0.0.1:7003"));
  EXPECT_EQ(cluster_file_text(again.file(0)), text) << "and what it knew is kept on";
  // What was heard since counts, however old the file's map is.
  ShardFacts moved = facts_named("b", 9003, {8192, 16383});
  moved.instance = {.ms = 5, .random = 9};
  again.hear(moved, 0);
  EXPECT_EQ(primary_of(again, "b", 0), "10.0.0.1:9003");
  EXPECT_EQ(ranges_text(shard_named(again, "b", 0).slots), "8192-16383:3");

  ClusterFacts other({.cluster = std::string(32, '1'), .shard = "a", .node = node_named("a1")});
  other.restore(*file);
  EXPECT_EQ(other.shard_of(8192), "") << "a file of another cluster";
}

TEST(ClusterFile, WhatWeirDoesNotWriteIsRefused) {
  ClusterFacts facts = knows();
  facts.hear(facts_named("b", 7003, {8192, 16383}), kSecond);
  facts.hear(facts_named("a", 7001, {0, 8191}), kSecond);
  const std::string text = cluster_file_text(facts.file(kSecond));
  ASSERT_TRUE(parse_cluster_file(text));
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_cluster_file(text.substr(0, size))) << size;
  std::mt19937 random(3);
  for (int round = 0; round < 5'000; ++round) {
    std::string bent = text;
    char& byte = bent[random() % bent.size()];
    const auto changed = static_cast<char>(random());
    if (byte == changed) continue;
    byte = changed;
    EXPECT_FALSE(parse_cluster_file(bent)) << bent;
  }
  EXPECT_FALSE(parse_cluster_file(text + "\n"));
  // The order of lines and their counts, with a checksum that is right.
  ClusterFile twice = facts.file(kSecond);
  twice.shards.push_back(twice.shards[0]);
  EXPECT_FALSE(parse_cluster_file(cluster_file_text(twice)));
  ClusterFile two_primaries = facts.file(kSecond);
  two_primaries.shards[0].members[1].is_primary = true;
  EXPECT_FALSE(parse_cluster_file(cluster_file_text(two_primaries)));
  ClusterFile many = facts.file(kSecond);
  for (int i = 0; i < 20; ++i) many.shards[0].members.push_back(member_named(std::to_string(i), 5));
  EXPECT_FALSE(parse_cluster_file(cluster_file_text(many)));
  EXPECT_FALSE(parse_cluster_file(std::string(kClusterFileBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace weir::server
