// Whom a member asks of another shard, and when.
#include "server/failover/peers/ask_plan.h"

#include <gtest/gtest.h>

namespace weir::server {
namespace {

constexpr int64_t kMs = kNsPerMs;
const std::vector<std::string> kThree = {"p:1", "s:1", "t:1"};

class AskPlanTest : public testing::Test {
 protected:
  // Who is asked when so much more time has passed; "": nobody.
  std::string asked_after(int64_t ms, const std::vector<std::string>& known = kThree) {
    now_ns_ += ms * kMs;
    return plan_.next(known, now_ns_).value_or("");
  }
  void answer(bool serves, int64_t ms = 1) { plan_.answered(serves, now_ns_ += ms * kMs); }
  void fail(int64_t ms) { plan_.failed(now_ns_ += ms * kMs); }

  AskPlan plan_{AskPlan::Wants::kThePrimary};
  int64_t now_ns_ = 1'000'000 * kMs;
};

TEST_F(AskPlanTest, ThePrimaryIsAskedTwiceASecond) {
  EXPECT_EQ(asked_after(0), "p:1");
  EXPECT_EQ(asked_after(600), "") << "one question at a time";
  answer(true);
  EXPECT_EQ(asked_after(0), "p:1") << "it took more than its time";
  answer(true);
  EXPECT_EQ(asked_after(498), "");
  EXPECT_EQ(asked_after(1), "p:1");
  EXPECT_EQ(plan_.next_ns(), INT64_MAX);
}

TEST_F(AskPlanTest, AfterSilenceTheNextIsAskedAtOnce) {
  EXPECT_EQ(asked_after(0), "p:1");
  fail(500);
  EXPECT_EQ(asked_after(0), "s:1");
  fail(500);
  EXPECT_EQ(asked_after(0), "t:1");
  fail(500);
  EXPECT_EQ(asked_after(0), "p:1");
}

TEST_F(AskPlanTest, ARefusalCostsATurnOfTheSearch) {
  EXPECT_EQ(asked_after(0), "p:1");
  fail(1);
  EXPECT_EQ(asked_after(98), "");
  EXPECT_EQ(asked_after(1), "s:1");
  answer(false);
  EXPECT_EQ(asked_after(98), "") << "every 100 ms while nobody serves";
  EXPECT_EQ(asked_after(1), "t:1");
}

TEST_F(AskPlanTest, APrimaryThatIsNamedIsAskedNext) {
  EXPECT_EQ(asked_after(0), "p:1");
  fail(1);
  EXPECT_EQ(asked_after(100), "s:1");
  answer(false);
  EXPECT_EQ(asked_after(100, {"t:1", "p:1", "s:1"}), "t:1");
  answer(true);
  EXPECT_EQ(asked_after(498, {"t:1", "p:1", "s:1"}), "");
  EXPECT_EQ(asked_after(1, {"t:1", "p:1", "s:1"}), "t:1");
}

// Two that name one another in turn.
TEST_F(AskPlanTest, LiesDoNotMakeItAskMore) {
  int asked = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    const bool is_odd = asked % 2 != 0;
    const std::vector<std::string> known = {is_odd ? "a:1" : "b:1", is_odd ? "b:1" : "a:1"};
    if (asked_after(1, known).empty()) continue;
    ++asked;
    answer(false, 0);
  }
  EXPECT_LE(asked, 11);
}

TEST_F(AskPlanTest, WhoHasANewPrimaryAsksAllAtOnce) {
  EXPECT_EQ(asked_after(0), "p:1");
  answer(true);
  EXPECT_EQ(asked_after(0), "");
  plan_.ask_all();
  EXPECT_LE(plan_.next_ns(), now_ns_);
  EXPECT_EQ(asked_after(0), "p:1");
  answer(true);
  EXPECT_EQ(asked_after(0), "s:1");
  answer(false);
  EXPECT_EQ(asked_after(0), "t:1");
  answer(false);
  EXPECT_EQ(asked_after(0), "");
}

TEST_F(AskPlanTest, OfTheOwnShardAllAreAskedInTurn) {
  AskPlan all(AskPlan::Wants::kAll);
  int64_t now_ns = 0;
  std::string asked;
  for (int ms = 0; ms < 2'000; ms += 100, now_ns += 100 * kMs) {
    const auto address = all.next(kThree, now_ns);
    if (!address) continue;
    asked += address->substr(0, 1);
    all.answered(false, now_ns);
  }
  EXPECT_EQ(asked, "pstp");
}

TEST_F(AskPlanTest, NobodyIsAskedWhereNobodyIsKnown) { EXPECT_EQ(asked_after(0, {}), ""); }

}  // namespace
}  // namespace weir::server
