// Whom a primary that is to end gives its role to, and how long it waits for that.
#include "server/failover/member/leaving.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

constexpr int64_t kBegan = 100 * kNsPerS;
constexpr int64_t kEndNs = 2 * kNsPerS;

MemberSeen member_of(const std::string& node, const std::string& state, uint64_t turn,
                     int64_t age_ms) {
  MemberSeen member;
  member.node = node;
  member.state = state;
  member.is_present = age_ms < 10'000;
  member.is_standby = member.is_present && state == "following";
  member.turn = turn;
  member.age_ms = age_ms;
  return member;
}

struct LeavingTest : ::testing::Test {
  LeavingTest() {
    leaving.begin(true, kEndNs, kBegan);
    self.is_self = self.is_primary = true;
  }
  // Looks so long after the beginning.
  void look(int64_t ms, std::vector<MemberSeen> others) {
    others.push_back(self);
    leaving.look(others, kBegan + ms * kNsPerMs);
  }
  Leaving leaving;
  MemberSeen self = member_of("self", "primary", 9, 0);
};

TEST_F(LeavingTest, GivesTheRoleToWhoHasToldSince) {
  look(10, {member_of("a", "following", 9, 500)});
  EXPECT_EQ(leaving.successor(), "") << "it may have been killed since";
  EXPECT_TRUE(leaving.is_searching());
  look(800, {member_of("a", "following", 9, 100)});
  EXPECT_EQ(leaving.successor(), "a");
  EXPECT_FALSE(leaving.is_searching());
  EXPECT_FALSE(leaving.is_over(kBegan + kEndNs));
  EXPECT_TRUE(leaving.is_over(kBegan + 800 * kNsPerMs + kEndNs));
}

TEST_F(LeavingTest, OfSeveralTheOneWithMostTurnsWhenAllHaveTold) {
  look(500, {member_of("a", "following", 5, 100), member_of("b", "following", 8, 900)});
  EXPECT_EQ(leaving.successor(), "");
  look(900, {member_of("a", "following", 5, 500), member_of("b", "following", 8, 10)});
  EXPECT_EQ(leaving.successor(), "b");
}

TEST_F(LeavingTest, WhoDoesNotTellIsNotWaitedForLong) {
  const auto killed = [](int64_t ms) { return member_of("b", "following", 8, ms + 900); };
  look(2'900, {member_of("a", "following", 5, 100), killed(2'900)});
  EXPECT_EQ(leaving.successor(), "");
  look(3'000, {member_of("a", "following", 5, 100), killed(3'000)});
  EXPECT_EQ(leaving.successor(), "a");
}

TEST_F(LeavingTest, WaitsForWhoIsLeavingOrJoiningWithinABound) {
  look(100, {member_of("a", "leaving", 9, 50)});
  look(2'000, {member_of("a", "joining", 9, 50)});
  look(3'000, {});
  EXPECT_TRUE(leaving.is_searching()) << "it was there";
  look(5'999, {member_of("a", "joining", 9, 50)});
  EXPECT_TRUE(leaving.is_searching());
  look(6'000, {member_of("a", "joining", 9, 50)});
  EXPECT_FALSE(leaving.is_searching());
  EXPECT_EQ(leaving.successor(), "");
  EXPECT_TRUE(leaving.has_nobody());
}

TEST_F(LeavingTest, WaitsForNobodyWhereNobodyIs) {
  look(1, {member_of("a", "following", 9, 10'000), member_of("b", "stopped", 9, 10)});
  EXPECT_FALSE(leaving.is_searching());
}

TEST_F(LeavingTest, ToldTwiceItLooksForNobody) {
  leaving.begin(true, kEndNs, kBegan + kNsPerS);
  EXPECT_FALSE(leaving.is_searching());
  EXPECT_TRUE(leaving.has_nobody());
  EXPECT_FALSE(leaving.is_over(kBegan + kEndNs));
  EXPECT_TRUE(leaving.is_over(kBegan + kNsPerS + kEndNs));
}

TEST_F(LeavingTest, ToldTwiceItKeepsWhomItHasChosen) {
  look(500, {member_of("a", "following", 5, 100)});
  leaving.begin(true, kEndNs, kBegan + kNsPerS);
  EXPECT_EQ(leaving.successor(), "a");
  EXPECT_TRUE(leaving.is_over(kBegan + 500 * kNsPerMs + kEndNs));
}

TEST(Leaving, AStandbyTellsAndGoes) {
  Leaving leaving;
  EXPECT_FALSE(leaving.has_begun());
  leaving.begin(false, kEndNs, kBegan);
  EXPECT_TRUE(leaving.has_begun());
  EXPECT_FALSE(leaving.is_searching());
  EXPECT_FALSE(leaving.is_over(kBegan));
  EXPECT_TRUE(leaving.is_over(kBegan + kEndNs));
}

}  // namespace
}  // namespace weir::server
