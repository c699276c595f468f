// Verdicts counted by policy.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlPolicyStats : public LimiterTest {
 protected:
  std::string stats(const std::string& name) {
    const std::string reply = ask("RL.POLICY STATS " + name);
    std::string counts;
    for (const char c : reply) {
      if (is_digit(c) || c == ',') counts += c;
    }
    return counts;  // ",granted,,denied,,shadow"
  }
};

TEST_F(RlPolicyStats, CountEachVerdictOnce) {
  ask("RL.POLICY SET p 3/1h");
  EXPECT_EQ(ask("RL.POLICY STATS p"), "[\"granted\", 0, \"denied\", 0, \"shadow_denied\", 0]");
  ask("RL.TAKE k POLICY p COST 2");
  ask("RL.TAKE k POLICY p COST 2");
  ask("RL.TAKE k POLICY p COST 0");
  ask("RL.PEEK k POLICY p");
  ask("RL.TAKE k 3/1h");
  EXPECT_EQ(stats("p"), ",1,,1,,0");
  ask("RL.MTAKE 2 a b EACH POLICY p EACH 1/1h");
  ask("RL.MTAKE 2 a b EACH POLICY p EACH 1/1h");
  EXPECT_EQ(stats("p"), ",2,,1,,0") << "the key of no policy has denied";
  ask("RL.ACQUIRE a POLICY p TIMEOUT 1s");
  ask("RL.ACQUIRE a POLICY p COST 3 TIMEOUT 1s");
  ask("RL.RESERVE r POLICY p");
  ask("RL.RESERVE r POLICY p COST 3 MAXWAIT 1s");
  EXPECT_EQ(stats("p"), ",4,,3,,0");
  ask("RL.POLICY SET p 3/1h SHADOW");
  ask("RL.TAKE k POLICY p");
  ask("RL.TAKE k 9/1h AS x POLICY p");
  ask("RL.RESERVE r POLICY p COST 3");
  EXPECT_EQ(stats("p"), ",4,,3,,3") << "a change of the policy leaves its counts";
  ask("RL.POLICY SET p BLOCKED");
  ask("RL.TAKE k POLICY p");
  ask("RL.RESERVE k POLICY p");
  ask("RL.POLICY SET p UNLIMITED");
  ask("RL.TAKE k POLICY p");
  ask("RL.RESERVE k POLICY p");
  EXPECT_EQ(stats("p"), ",6,,5,,3");
  ask("RL.POLICY SET q 1/1h");
  EXPECT_EQ(
      ask("RL.POLICY STATS"),
      "[\"p\", [\"granted\", 6, \"denied\", 5, \"shadow_denied\", 3], \"q\", [\"granted\", 0, "
      "\"denied\", 0, \"shadow_denied\", 0]]");
  ask("CONFIG RESETSTAT");
  EXPECT_EQ(stats("p"), ",0,,0,,0");
  EXPECT_EQ(ask("RL.POLICY STATS none"),
            "(error ERR no policy is named 'none'; RL.POLICY SET makes one)");
}

}  // namespace
}  // namespace weir::server
