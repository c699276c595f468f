// What a member knows of its shard, as it tells it.
#include "server/failover/member/told_facts.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

MemberSeen seen(char name) {
  MemberSeen member;
  member.node = std::string(40, name);
  member.host = "10.0.0.1";
  member.port = 7001;
  member.state = "following";
  member.turn = 5;
  member.age_ms = 900;
  return member;
}

TEST(ToldFacts, AMemberTellsOfAllThatItKnows) {
  MemberSeen self = seen('a');
  self.is_self = true;
  MemberSeen primary = seen('b');
  primary.is_primary = true;
  primary.state = "primary";
  primary.configuration.fill('\xfe');
  MemberSeen unknown = seen('c');
  unknown.host.clear();
  MemberSeen bad = seen('d');
  bad.host = "a b";
  MemberView view;
  view.serves = true;
  view.epoch = 7;
  view.turn = 6;
  const ShardFacts facts = facts_of_member(view, {self, primary, unknown, bad}, {}, 11);
  EXPECT_TRUE(facts.serves);
  EXPECT_EQ(facts.claim, 7u);
  EXPECT_EQ(facts.keys, 11u);
  ASSERT_EQ(facts.members.size(), 3u) << "one whose address is none is left out";
  EXPECT_EQ(facts.members[0].node, primary.node);
  EXPECT_TRUE(facts.members[0].is_primary);
  EXPECT_EQ(facts.members[0].configuration.substr(0, 6), "fefefe");
  EXPECT_EQ(facts.members[0].acl, "") << "it has not told";
  EXPECT_EQ(facts.members[0].age_ms, 900);
  EXPECT_EQ(facts.members[1].node, self.node);
  EXPECT_EQ(facts.members[1].turn, 6u) << "as it is";
  EXPECT_EQ(facts.members[1].age_ms, 0);
  EXPECT_EQ(facts.members[2].port, 0);
}

TEST(ToldFacts, WhoTellsAndThePrimaryHaveRoom) {
  std::vector<MemberSeen> many;
  for (int number = 10; number < 34; ++number) {
    many.push_back(seen('0'));
    many.back().node.replace(0, 2, std::to_string(number));
  }
  many[20].is_primary = true;
  many[22].is_self = true;
  const ShardFacts facts = facts_of_member({}, many, {}, 0);
  ASSERT_EQ(facts.members.size(), kMembersMax);
  EXPECT_EQ(facts.members[0].node, many[22].node);
  EXPECT_EQ(facts.members[1].node, many[20].node);
}

}  // namespace
}  // namespace weir::server
