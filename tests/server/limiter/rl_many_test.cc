// RL.MTAKE where keys differ in what they are asked for.
#include <gmock/gmock.h>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using RlMany = LimiterTest;

TEST_F(RlMany, EachKeyMayHaveItsCost) {
  ask("RL.POLICY SET two FIXED 10/1h FIXED 20/1d");
  EXPECT_EQ(ask("RL.MTAKE 3 a b c EACH POLICY two EACH FIXED 5/1h EACH 9/1s KEYCOSTS 7,0,2"),
            "[1, -1, [1, 10, 3, 0, 3600000, 0], [1, 5, 5, 0, 0, 0], [1, 9, 7, 0, 223, 0]]");
  EXPECT_EQ(ask("RL.INFO b"), "(nil)");  // nothing was asked of it
  EXPECT_THAT(ask("RL.MTAKE 2 a b EACH POLICY two EACH FIXED 5/1h KEYCOSTS 3,6"),
              StartsWith("[0, 1, [1, 10, 3, 0, "));
  EXPECT_EQ(ask("RL.MTAKE 2 a b POLICY two KEYCOSTS 1,6").substr(0, 14), "[1, -1, [1, 10");
}

TEST_F(RlMany, CostsOfKeysThatDoNotFit) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b 5/1s 5/1s KEYCOSTS 1"),
            "(error ERR KEYCOSTS must be one number for each of the 2 keys, got 1)");
  EXPECT_THAT(ask("RL.MTAKE 2 a b 5/1s 5/1s KEYCOSTS 1,-1"), HasSubstr("KEYCOSTS must be"));
  EXPECT_EQ(ask("RL.MTAKE 2 a b 5/1s 5/1s COST 1 KEYCOSTS 1,1"),
            "(error ERR syntax error: COST and KEYCOSTS exclude each other)");
  EXPECT_THAT(ask("RL.MTAKE 2 a b 5/1s 5/1s KEYCOSTS 1,1 UPTO"), HasSubstr("UPTO takes one COST"));
  EXPECT_THAT(ask("RL.TAKE a 5/1s KEYCOSTS 1"), HasSubstr("RL.MTAKE takes KEYCOSTS"));
}

}  // namespace
}  // namespace weir::server
