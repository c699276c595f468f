// Who changed a policy, when, and what it was before.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlPolicyHistory : public LimiterTest {};

TEST_F(RlPolicyHistory, TellsWhoChangedWhatAndWhen) {
  EXPECT_EQ(ask("RL.POLICY HISTORY p"), "[]");
  ask("ACL SETUSER anna on nopass +@all ~* allpolicies");
  ask("RL.POLICY SET p 10/1h");
  server_->advance(kSecond);
  ask("AUTH anna x");
  ask("RL.POLICY SET p 20/1h SHADOW ONCHANGE RESET");
  server_->advance(kSecond);
  ask("RL.POLICY DEL p");
  ask("RL.POLICY DEL p");
  ask("RL.POLICY SET q 10/1h");
  restart();
  EXPECT_EQ(ask("RL.POLICY HISTORY p"),
            "[[\"time_ms\", 1700000002000, \"user\", \"anna\", \"before\", \"GCRA 20/1h SHADOW "
            "ONCHANGE RESET\"], [\"time_ms\", 1700000001000, \"user\", \"anna\", \"before\", "
            "\"GCRA 10/1h\"], [\"time_ms\", 1700000000000, \"user\", \"default\", \"before\", "
            "(nil)]]");
}

TEST_F(RlPolicyHistory, KeepsTheLastSixteenOfAPolicy) {
  ask("RL.POLICY SET other 10/1h");
  for (int i = 1; i <= 40; ++i) ask("RL.POLICY SET p " + std::to_string(i) + "/1h");
  const std::string history = ask("RL.POLICY HISTORY p");
  EXPECT_EQ(history.find("\"GCRA 23/1h\""), std::string::npos);
  EXPECT_NE(history.find("\"GCRA 24/1h\""), std::string::npos);
  EXPECT_NE(history.find("\"GCRA 39/1h\""), std::string::npos);
  EXPECT_NE(ask("RL.POLICY HISTORY other"), "[]");
}

TEST_F(RlPolicyHistory, IsBoundedForAllPolicies) {
  for (int i = 0; i <= 2000; ++i) ask("RL.POLICY SET p" + std::to_string(i) + " 1/1h");
  EXPECT_EQ(ask("RL.POLICY HISTORY p0"), "[]");
  EXPECT_NE(ask("RL.POLICY HISTORY p1"), "[]");
  EXPECT_NE(ask("RL.POLICY HISTORY p2000"), "[]");
}

}  // namespace
}  // namespace weir::server
