// Facts that nobody tells who goes by his log, and more of them than there may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/cluster/cluster_facts.h"
#include "tests/server/cluster/facts_fixture.h"

namespace weir::server {
namespace {

using Heard = ClusterFacts::Heard;

const ClusterFacts::Self kMember = {
    .cluster = kTestCluster, .shard = "a", .node = node_named("a1")};

// No later one could outbid it.
TEST(HostileFacts, AVersionGrowsByNoMoreThanCanBe) {
  ClusterFacts facts(kMember);
  facts.hear(facts_named("b", 7003, {0, 100}), 0);
  ShardFacts liar = facts_named("c", 6666, {50, 100});
  liar.slots[0].version = ClusterFacts::kVersionStepMax + 2;
  EXPECT_EQ(facts.hear(liar, 0), Heard::kFarVersion);
  EXPECT_EQ(facts.shard_of(50), "b");
  EXPECT_EQ(facts.shards(0).size(), 2u);
  liar.slots[0].version = ClusterFacts::kVersionStepMax + 1;
  EXPECT_EQ(facts.hear(liar, 0), Heard::kTaken);
  ShardFacts b = facts_named("b", 7003, {0, 100});
  b.changes = ClusterFacts::kChangesStepMax + 1;
  EXPECT_EQ(facts.hear(b, 0), Heard::kFarVersion);
  b.changes = ClusterFacts::kChangesStepMax;
  EXPECT_EQ(facts.hear(b, 0), Heard::kTaken);
  b.changes *= 2;
  EXPECT_EQ(facts.hear(b, 0), Heard::kTaken);
}

// All that its members tell later would be of an older instance.
TEST(HostileFacts, AnInstanceOfTheFutureIsNotBelieved) {
  constexpr uint64_t kNow = 1'700'000'000'000;
  ClusterFacts facts({.cluster = kTestCluster,
                      .shard = "a",
                      .node = node_named("a1"),
                      .instance = {.ms = kNow - 1, .random = 1}});
  ShardFacts b = facts_named("b", 7003, {0, 1});
  b.instance.ms = kNow + ClusterFacts::kInstanceLeadMs + 1;
  EXPECT_EQ(facts.hear(b, 0, kNow), Heard::kInstanceAhead);
  EXPECT_EQ(facts.hear(b, 0, kNow - 2), Heard::kTaken) << "this machine's clock is wrong";
  const ClusterFile file = facts.file(0);
  ClusterFacts next({.cluster = kTestCluster, .shard = "a", .node = node_named("a1")});
  next.restore(file, kNow);
  EXPECT_EQ(next.shard_of(0), "") << "nor by the file";
  b.instance.ms = kNow + ClusterFacts::kInstanceLeadMs;
  EXPECT_EQ(next.hear(b, 0, kNow), Heard::kTaken);
}

// Whoever has the members' password may make up names.
TEST(HostileFacts, NamesWithoutSlotsLeaveRoomForOthers) {
  ClusterFacts facts(kMember);
  ShardFacts b = facts_named("b", 7003, {0, 100});
  for (int shard = 0; shard < 60; ++shard)
    b.others.push_back({.shard = "x" + std::to_string(shard), .addresses = {"6.6.6.6:1"}});
  facts.hear(b, 0);
  EXPECT_EQ(facts.shards(0).size(), 2 + ClusterFacts::kSlotlessMax);
  ShardFacts liar = facts_named("y", 6666, {0, 100});
  EXPECT_EQ(facts.hear(liar, 0), Heard::kTooManySlotless) << "b is shown for its slots";
  EXPECT_EQ(facts.hear(facts_named("c", 7005, {101, 200}), 0), Heard::kTaken);
  EXPECT_THAT(facts.addresses(0), ::testing::SizeIs(2)) << "of b and c; nobody heard the others";
}

TEST(HostileFacts, HaveBounds) {
  ClusterFacts facts(kMember);
  size_t refused = 0;
  for (int shard = 0; shard < 200; ++shard) {
    const auto heard =
        facts.hear(facts_named("s" + std::to_string(shard), 1, {shard, shard}), shard);
    refused += heard == Heard::kTooManyShards ? 1 : 0;
  }
  EXPECT_EQ(facts.shards(0).size(), kShardsMax);
  EXPECT_EQ(refused, 200 - kShardsMax + 1);
  ClusterFacts others(kMember);
  for (int round = 0; round < 100; ++round) {
    ShardFacts b = facts_named("b", 1, {0, 1});
    const std::string number = std::to_string(round);
    b.members.push_back(member_named(number, 9));
    others.hear(told_by(number, b), round);
    b.others = {{.shard = "c", .addresses = {"h" + number + ":1"}}};
    others.hear(b, round);
  }
  EXPECT_THAT(others.addresses_of("c", 0), ::testing::SizeIs(kMembersMax));
  EXPECT_EQ(others.addresses_of("c", 0)[0], "h99:1");
  for (const KnownShard& shard : others.shards(0)) EXPECT_LE(shard.members.size(), kMembersMax);
}

}  // namespace
}  // namespace weir::server
