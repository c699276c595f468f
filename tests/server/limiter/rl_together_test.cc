// Policies in shadow, blocked or overridden, bans, holds and the option `limiting`, together.
#include <gtest/gtest.h>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlTogether : public LimiterTest {
 protected:
  void set_policy(const std::string& rest) { EXPECT_EQ(ask("RL.POLICY SET " + rest), "OK"); }
};

// What was charged to a limit that is full and forgotten is not given back to another one.
TEST_F(RlTogether, AHoldIsNotSettledWithAnUnrelatedLimit) {
  set_policy("fast GCRA 1000/1s");
  set_policy("slow GCRA 5/1d");
  EXPECT_EQ(ask("RL.TAKE k POLICY fast COST 1000 HOLD 1h"), "[1, 1000, 0, 0, 1000, 0, 1]");
  server_->advance(2 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k POLICY slow COST 5"), "[1, 5, 0, 0, 86400000, 0]");
  ask("RL.SETTLE k 1 0");
  EXPECT_EQ(ask("RL.PEEK k POLICY slow").substr(0, 9), "[0, 5, 0,");
}

TEST_F(RlTogether, ABanBesideAPolicyInShadowIsTheBans) {
  set_policy("s FIXED 1/1d SHADOW");
  const std::string words = " a POLICY s GCRA 2/1s BAN 2s AFTER 1 WITHIN 1m";
  ask("RL.TAKE" + words);
  ask("RL.TAKE" + words);
  EXPECT_EQ(ask("RL.TAKE" + words + " COST 3").substr(0, 12), "[0, 2, 0, -1");
  EXPECT_EQ(ask("RL.TAKE" + words), "[0, 2, 0, 2000, 1000, 1]");
}

TEST_F(RlTogether, AHoldOfWhatAPolicyInShadowDeniedHasNothingOfIt) {
  set_policy("s FIXED 10/1h SHADOW");
  ask("RL.TAKE k SLIDINGLOG 100/1h POLICY s COST 8");
  EXPECT_EQ(ask("RL.TAKE k SLIDINGLOG 100/1h POLICY s COST 8 HOLD 60s"),
            "[1, 100, 84, 0, 3600000, 0, 1]");
  EXPECT_EQ(ask("RL.SETTLE k 1 8"), "[1, 10, 2, 0, 3600000, 1]");
}

TEST_F(RlTogether, WhoWaitsIsServedWhenLimitsDenyNoMore) {
  for (const std::string how : {"off", "shadow"}) {
    ask("RL.TAKE w" + how + " 1/1h");
    const auto waits = server_->connect();
    send(*waits, "RL.ACQUIRE w" + how + " 1/1h TIMEOUT 0");
    EXPECT_EQ(heard(*waits), "");
    ask("CONFIG SET limiting " + how);
    EXPECT_EQ(heard(*waits).substr(0, 3), "[1,") << how;
    ask("CONFIG SET limiting on");
  }
}

TEST_F(RlTogether, AShadowBesideALeaseIsCounted) {
  set_policy("s FIXED 1/1h SHADOW");
  ask("RL.TAKE k CONCURRENCY 5 LEASE 60s POLICY s");
  const std::string second = ask("RL.TAKE k CONCURRENCY 5 LEASE 60s POLICY s FULL");
  EXPECT_NE(second.find("\"shadow\", 1"), std::string::npos) << second;
  const std::string stats = ask("RL.POLICY STATS s");
  EXPECT_NE(stats.find("\"shadow_denied\", 1"), std::string::npos) << stats;
}

TEST_F(RlTogether, ABanOfAPolicyThatIsInShadowNowDeniesNobody) {
  set_policy("p FIXED 1/1h BAN 1h AFTER 1 WITHIN 1h");
  ask("RL.TAKE k POLICY p COST 2");
  EXPECT_EQ(ask("RL.RESERVE k 5/1s").substr(0, 3), "[0,");
  set_policy("p GCRA 1/1h SHADOW");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 3), "[1,");
  EXPECT_EQ(ask("RL.RESERVE k POLICY p").substr(0, 3), "[1,");
}

TEST_F(RlTogether, AWaiterWhomAPolicyBlocksIsCounted) {
  set_policy("q 1/1h");
  ask("RL.TAKE k POLICY q");
  const auto waits = server_->connect();
  send(*waits, "RL.ACQUIRE k POLICY q TIMEOUT 0");
  EXPECT_EQ(heard(*waits), "");
  set_policy("q BLOCKED");
  EXPECT_EQ(heard(*waits), "[0, 0, 0, -1, -1, -1]");
  const std::string stats = ask("RL.POLICY STATS q");
  EXPECT_NE(stats.find("\"denied\", 1"), std::string::npos) << stats;
}

TEST_F(RlTogether, ABlockedPolicyDeniesInMtakeWhateverStandsBesideIt) {
  set_policy("b BLOCKED");
  EXPECT_EQ(ask("RL.MTAKE 1 q POLICY b 100/1h").substr(0, 5), "[0, 0");
  EXPECT_EQ(ask("RL.MTAKE 2 q r POLICY b 100/1h").substr(0, 5), "[0, 0");
  ask("CONFIG SET limiting shadow");
  EXPECT_EQ(ask("RL.MTAKE 1 q POLICY b FORCE").substr(0, 3), "[1,");
  ask("CONFIG SET limiting on");
}

}  // namespace
}  // namespace weir::server
