// A key that is used with one policy and then with another: neither forgets what it has counted.
#include <gmock/gmock.h>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RlTwoPolicies : public LimiterTest {
 protected:
  int granted(const std::string& take, int most = 100) {
    int count = 0;
    while (count < most && ask(take).starts_with("[1, ")) ++count;
    return count;
  }
};

// Whoever may choose the policy could else have the longer one forget by naming the shorter one.
TEST_F(RlTwoPolicies, GoingToAndFroGrantsNoMoreThanEach) {
  const std::pair<const char*, const char*> pairs[] = {
      {"FIXED 10/1h", "FIXED 5/1s"},
      {"GCRA 10/1h", "GCRA 5/1s"},
      {"TOKENBUCKET 10/1h", "TOKENBUCKET 5/1s"},
      {"SLIDINGLOG 10/1h", "SLIDINGLOG 5/1s"},
      {"SLIDINGWINDOW 10/1h", "SLIDINGWINDOW 5/1s"},
      {"SLIDINGCOUNTER 10/1h", "SLIDINGCOUNTER 5/1s"},
      {"FIXED 10 ALIGN DAY", "FIXED 5/1s"},
  };
  for (const auto& [longer, shorter] : pairs) {
    ask(std::string("RL.POLICY SET h ") + longer);
    ask(std::string("RL.POLICY SET s ") + shorter);
    ask("RL.RESET k");
    int count = 0;
    for (int i = 0; i < 4; ++i) {
      count += granted("RL.TAKE k POLICY h");
      ask("RL.TAKE k POLICY s");
      server_->advance(1050 * kMs);
    }
    EXPECT_EQ(count, 10) << longer;
  }
}

// From a smaller plan to a larger one: what was used stays used.
TEST_F(RlTwoPolicies, WhatWasUsedCountsUnderTheNext) {
  ask("RL.POLICY SET free FIXED 10/1h");
  ask("RL.POLICY SET pro FIXED 100/1h");
  EXPECT_EQ(granted("RL.TAKE k POLICY free"), 10);
  EXPECT_THAT(ask("RL.TAKE k POLICY pro COST 30"), StartsWith("[1, 100, 60,"));
  EXPECT_THAT(ask("RL.TAKE k POLICY free"), StartsWith("[0, 10, 0,"));
  EXPECT_THAT(ask("RL.PEEK k POLICY pro COST 0"), StartsWith("[1, 100, 60,"));
}

TEST_F(RlTwoPolicies, AChangedPolicyIsStillTheSame) {
  for (int count = 20; count < 60; ++count) {
    ask("RL.POLICY SET p FIXED " + std::to_string(count) + "/1h");
    EXPECT_THAT(ask("RL.TAKE k POLICY p"), StartsWith("[1, "));
  }
  EXPECT_THAT(ask("RL.PEEK k COST 0"), StartsWith("[1, 59, 19,"));
  restart();
  ask("RL.POLICY SET p FIXED 100/1h");
  EXPECT_THAT(ask("RL.TAKE k POLICY p"), StartsWith("[1, 100, 59,"));
}

// Limits that a request writes itself, and those of records from before policies were told apart.
TEST_F(RlTwoPolicies, APolicyTakesOverWhatWasWrittenInRequests) {
  ask("RL.TAKE k FIXED 10/1h COST 4");
  ask("RL.POLICY SET p FIXED 20/1h");
  EXPECT_THAT(ask("RL.TAKE k POLICY p"), StartsWith("[1, 20, 15,"));
  EXPECT_THAT(ask("RL.INFO k"), testing::Not(HasSubstr("FIXED 10/1h")));
}

}  // namespace
}  // namespace weir::server
