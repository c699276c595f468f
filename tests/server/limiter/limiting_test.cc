// The option `limiting`: all limiters in shadow, or off.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class LimitingOption : public LimiterTest {};

TEST_F(LimitingOption, InShadowNothingIsDenied) {
  ask("RL.POLICY SET p 1/1h");
  ask("RL.POLICY SET no BLOCKED");
  ask("RL.TAKE k POLICY p");
  EXPECT_EQ(ask("CONFIG SET limiting shadow"), "OK");
  EXPECT_EQ(ask("CONFIG GET limiting"), "[\"limiting\", \"shadow\"]");
  EXPECT_EQ(ask("RL.TAKE k 1/1h"), "[1, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), "[1, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k 1/1h 2/1h AS b"), "[1, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE new 5/1h"), "[1, 5, 4, 0, 720000, -1]") << "what is granted is charged";
  EXPECT_EQ(ask("RL.TAKE k POLICY no"), "[1, 0, 0, -1, -1, -1]");
  EXPECT_EQ(ask("RL.ACQUIRE k 1/1h TIMEOUT 0"), "[1, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE q LEAKY 1/1h CAPACITY 5 TIMEOUT 0").substr(0, 2), "[1");
  EXPECT_EQ(ask("RL.ACQUIRE q LEAKY 1/1h CAPACITY 5 TIMEOUT 0").substr(0, 2), "[1");
  EXPECT_EQ(ask("RL.RESERVE k 1/1h MAXWAIT 1ms").substr(0, 7), "[1, 0, ");
  EXPECT_EQ(ask("RL.RESERVE k POLICY no").substr(0, 7), "[1, 0, ");
  EXPECT_EQ(ask("RL.MTAKE 2 k fresh EACH 1/1h EACH 5/1h"),
            "[1, 0, [1, 1, 0, 3600000, 3600000, 0], [1, 5, 5, 0, 0, -1]]");
  EXPECT_EQ(ask("RL.TAKE k 1/1h FORCE").substr(0, 9), "[1, 1, -1");
  EXPECT_EQ(ask("CL.THROTTLE c 0 1 3600"), "[0, 1, 0, -1, 3600]");
  EXPECT_EQ(ask("CL.THROTTLE c 0 1 3600"), "[0, 1, 0, -1, 3600]");
  EXPECT_EQ(ask("THROTTLE c 1 1 3600"), "[1, 1, 0, 3600, 0]");
  EXPECT_EQ(ask("GCRA c 0 1 3600"), "[0, 1, 0, -1, 3600]");
  EXPECT_EQ(ask("CL.THROTTLE c 0 1 3600 -1"), "[0, 1, 1, -1, 0]");
  EXPECT_NE(ask("INFO limiter").find("limiting:shadow"), std::string::npos);
  EXPECT_EQ(ask("INFO limiter").find("denied:0\\r\\nshadow_denied:0"), std::string::npos);
  ask("CONFIG SET limiting on");
  EXPECT_EQ(ask("RL.TAKE k 1/1h").substr(0, 2), "[0");
  EXPECT_EQ(ask("CL.THROTTLE c 0 1 3600"), "[0, 1, 0, -1, 3600]");
  EXPECT_EQ(ask("CL.THROTTLE c 0 1 3600"), "[1, 1, 0, 3600, 3600]");
}

TEST_F(LimitingOption, OffAllowsAllAndChargesNothing) {
  ask("RL.POLICY SET no BLOCKED");
  ask("RL.TAKE k 1/1h");
  ask("CONFIG SET limiting off");
  const std::string allowed = "[1, -1, -1, 0, 0, -1]";
  for (const char* request :
       {"RL.TAKE k 1/1h", "RL.TAKE k 1/1h COST 1,2,3 FORCE", "RL.TAKE k POLICY no",
        "RL.TAKE k POLICY none", "RL.ACQUIRE k 1/1h TIMEOUT 0", "RL.PEEK k 1/1h",
        "RL.TAKE n 5/1h 7/1h"}) {
    EXPECT_EQ(ask(request), allowed) << request;
  }
  EXPECT_EQ(ask("RL.RESERVE k 1/1h").substr(0, 7), "[1, 0, ");
  EXPECT_EQ(ask("RL.MTAKE 2 a b 1/1h 1/1h COST 9"), "[1, -1, " + allowed + ", " + allowed + "]");
  EXPECT_EQ(ask("CL.THROTTLE c 4 1 3600 9"), "[0, 5, 5, -1, 0]");
  EXPECT_EQ(ask("CL.THROTTLE c 4 1 3600 -9"), "[0, 5, 5, -1, 0]");
  EXPECT_EQ(ask("GCRA c 4 1 3600"), "[0, 5, 5, -1, 0]");
  EXPECT_EQ(ask("INCREX i"), "[1, 1]");
  EXPECT_EQ(ask("INCREX i UBOUND 1"), "[1, 0]");
  EXPECT_EQ(ask("EXISTS n a b c"), "0");
  EXPECT_NE(ask("INFO limiter").find("limiting:off"), std::string::npos);
  ask("CONFIG SET limiting on");
  EXPECT_EQ(ask("RL.TAKE k 1/1h").substr(0, 2), "[0");
  EXPECT_EQ(ask("CONFIG SET limiting maybe").substr(0, 6), "(error");
}

}  // namespace
}  // namespace weir::server
