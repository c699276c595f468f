// Who is shown for which slot.
#include "server/cluster/slot_map.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::server {
namespace {

ShownMember member(const std::string& id, bool is_primary = false) {
  return {.id = id, .host = "h", .port = 1, .is_primary = is_primary};
}

ShownShard shard(const std::string& name, std::vector<SlotRange> ranges,
                 std::vector<ShownMember> members) {
  return {.name = name, .id = name + "-id", .epoch = 1, .ranges = ranges, .members = members};
}

TEST(SlotMap, ShowsNothingAtFirst) {
  const SlotMap map;
  EXPECT_EQ(map.shard_of(0), SlotMap::kNobody);
  EXPECT_EQ(map.own(), SlotMap::kNobody);
  EXPECT_TRUE(map.rows().empty());
  EXPECT_EQ(map.counts().assigned, 0);
  EXPECT_EQ(map.find("x"), nullptr);
}

TEST(SlotMap, ShowsTheOwnersOfATopology) {
  const auto topology = Topology::parse(
      "epoch 7\nb g:2 0-99 tls-port=3\na h:1 100-16382\nb g:2 16383-16383 tls-port=3\n", "F");
  ASSERT_TRUE(topology.ok()) << topology.error();
  const SlotMap map(*topology, 1, "own id", "name.example");
  EXPECT_EQ(map.own(), 1u);
  EXPECT_EQ(map.shard_of(99), 0u);
  EXPECT_EQ(map.shard_of(100), 1u);
  EXPECT_EQ(map.shard_of(16383), 0u);
  const ShownShard& other = map.shards()[0];
  EXPECT_EQ(other.name + " " + other.id, "b " + node_id_of("b"));
  EXPECT_EQ(other.epoch, 7);
  ASSERT_NE(other.primary(), nullptr);
  EXPECT_EQ(other.primary()->port_for(true), 3);
  EXPECT_EQ(other.primary()->port_for(false), 2);
  EXPECT_FALSE(other.primary()->is_self);
  const ShownShard& mine = map.shards()[1];
  EXPECT_EQ(mine.id + " " + mine.primary()->id + " " + mine.primary()->hostname,
            "own id own id name.example");
  EXPECT_TRUE(mine.primary()->is_self);
  EXPECT_EQ(mine.primary()->port_for(true), 1) << "it has no other";
  ASSERT_EQ(map.rows().size(), 3u);
  EXPECT_EQ(map.rows()[2].range, (SlotRange{16383, 16383}));
  EXPECT_EQ(map.counts().assigned, kSlots);
  EXPECT_EQ(map.counts().with_slots, 2u);
}

TEST(SlotMap, AServerAloneHasAllSlots) {
  const SlotMap map(Topology::alone(), 0, "me", "");
  EXPECT_EQ(map.shard_of(16383), map.own());
  EXPECT_EQ(map.shards()[0].primary()->host, "") << "the address by which the asker has come";
}

TEST(SlotMap, ASlotIsShownForOneShardAtMost) {
  const SlotMap map({shard("a", {{0, 9}}, {member("a1", true)}),
                     shard("b", {{5, 20}}, {member("b1", true), member("b2")})});
  EXPECT_EQ(map.own(), SlotMap::kNobody) << "this server is a member of neither";
  EXPECT_EQ(map.shard_of(9), 0u);
  EXPECT_EQ(map.shards()[1].ranges, (std::vector<SlotRange>{{10, 20}}));
  EXPECT_EQ(map.shard_of(21), SlotMap::kNobody);
  EXPECT_EQ(map.counts().assigned, 21);
  EXPECT_EQ(map.counts().members, 3u);
  EXPECT_EQ(map.find("b2"), &map.shards()[1].members[1]);
  EXPECT_EQ(map.shard_of_member("b2"), &map.shards()[1]);
  EXPECT_EQ(map.shard_of_member("c"), nullptr);
}

TEST(SlotMap, APrimaryIsShownUntilAnotherIsKnown) {
  ShownMember self = member("a2");
  self.is_self = true;
  SlotMap map({shard("a", {{0, kSlots - 1}}, {self})});
  EXPECT_EQ(map.own(), 0u);
  EXPECT_TRUE(map.rows().empty()) << "no primary was ever known";
  EXPECT_EQ(map.counts().assigned, 0);
  map.show(0, shard("a", {}, {member("a1", true), self}));
  ASSERT_EQ(map.rows().size(), 1u) << "slots stay";
  map.show(0, shard("a", {}, {member("a1"), self}));
  ASSERT_NE(map.shards()[0].primary(), nullptr);
  EXPECT_EQ(map.shards()[0].primary()->id, "a1");
  map.show(0, shard("a", {}, {self}));
  ASSERT_EQ(map.shards()[0].members.size(), 2u);
  EXPECT_EQ(map.shards()[0].primary()->id, "a1");
  EXPECT_FALSE(map.shards()[0].primary()->is_heard);
  self.is_primary = true;
  map.show(0, shard("a", {}, {self}));
  EXPECT_EQ(map.shards()[0].primary()->id, "a2");
  EXPECT_EQ(map.shards()[0].members.size(), 1u);
}

TEST(SlotMap, CountsSlotsWhosePrimaryIsNotHeardOf) {
  ShownShard quiet = shard("a", {{0, 9}}, {member("a1", true)});
  quiet.silent_ms = 2'000;
  ShownShard lost = shard("b", {{10, 39}}, {member("b1", true)});
  lost.silent_ms = 10'000;
  ShownShard late = shard("c", {{40, 16383}}, {member("c1", true)});
  late.silent_ms = 1'999;
  const SlotMap::Counts counts =
      SlotMap({quiet, lost, late, shard("d", {}, {member("d1", true)})}).counts();
  EXPECT_EQ(counts.quiet, 10);
  EXPECT_EQ(counts.lost, 30);
  EXPECT_EQ(counts.assigned, kSlots);
  EXPECT_EQ(counts.with_slots, 3u);
}

TEST(SlotMap, ItsDigestIsOfWhoServesWhat) {
  const auto digest = [](std::vector<ShownMember> members) {
    return SlotMap({shard("a", {{0, 9}}, std::move(members))}).digest();
  };
  const std::string first = digest({member("a1", true), member("a2")});
  EXPECT_EQ(first.size(), 16u);
  ShownMember older = member("a2");
  older.age_ms = 1'000;
  EXPECT_EQ(digest({older, member("a1", true)}), first);
  EXPECT_NE(digest({member("a1"), member("a2", true)}), first);
}

TEST(SlotMap, ItsDigestIsComputedOnceForWhatIsShown) {
  SlotMap map({shard("a", {{0, 9}}, {member("a1", true), member("a2")})});
  const std::string first = map.digest();
  const char* const kept = map.digest().data();
  map.show(0, shard("a", {}, {member("a1", true)}));
  EXPECT_EQ(map.digest().data(), kept);
  EXPECT_EQ(map.digest(), first);
  map.show(0, shard("a", {}, {member("a2", true)}));
  EXPECT_EQ(map.digest(), SlotMap({shard("a", {{0, 9}}, {member("a2", true)})}).digest());
  EXPECT_NE(map.digest(), first);
}

TEST(SlotMap, TheLargestClusterFits) {
  std::vector<ShownShard> shards;
  for (int at = 0; at < 64; ++at) {
    std::vector<ShownMember> members(16, member("m", false));
    members[3].is_primary = true;
    members[5].is_self = at == 63;
    shards.push_back(shard(std::to_string(at), {{at * 256, at * 256 + 255}}, members));
  }
  const SlotMap map(std::move(shards));
  EXPECT_EQ(map.own(), 63u);
  EXPECT_EQ(map.shard_of(255), 0u);
  EXPECT_EQ(map.shard_of(256), 1u);
  EXPECT_EQ(map.counts().members, 1024u);
  EXPECT_EQ(map.counts().assigned, kSlots);
}

TEST(SlotMap, AShardsIdFollowsFromItsClusterAndName) {
  EXPECT_EQ(shard_id_of("c", "a").size(), 40u);
  EXPECT_NE(shard_id_of("c", "a"), shard_id_of("c", "b"));
  EXPECT_NE(shard_id_of("c", "a"), shard_id_of("d", "a"));
}

}  // namespace
}  // namespace weir::server
