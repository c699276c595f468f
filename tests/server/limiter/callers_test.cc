#include "server/limiter/counts/callers.h"

#include <string>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr int64_t kMinute = 60 * kNsPerS;

TEST(Callers, DifferentNamesCountForAMinute) {
  Callers callers;
  EXPECT_EQ(callers.count("api", "a", 0), 1u);
  EXPECT_EQ(callers.count("api", "b", 1), 2u);
  EXPECT_EQ(callers.count("api", "a", kMinute / 2), 2u);
  EXPECT_EQ(callers.count("other", "a", kMinute / 2), 1u);
  EXPECT_EQ(callers.count("api", "", kMinute), 2u);
  EXPECT_EQ(callers.count("api", "", kMinute + 1), 1u);  // b has been silent
  EXPECT_EQ(callers.count("api", "", kMinute / 2 + kMinute), 0u);
}

TEST(Callers, HaveABoundForEachPolicyAndForAll) {
  Callers callers;
  for (size_t i = 0; i < 2 * kCallersMax; ++i) callers.count("api", std::to_string(i), 0);
  EXPECT_EQ(callers.count("api", "", 0), kCallersMax);
  for (size_t policy = 0; policy < kCallersOfAllMax / kCallersMax; ++policy) {
    for (size_t i = 0; i < kCallersMax; ++i)
      callers.count("p" + std::to_string(policy), std::to_string(i), 1);
  }
  EXPECT_EQ(callers.count("p0", "", 1), kCallersMax);
  EXPECT_EQ(callers.count("api", "", 1), 0u);  // silent longest
  EXPECT_EQ(callers.count("api", "again", 1), 1u);
}

class RlCallers : public LimiterTest {};

TEST_F(RlCallers, FullTellsHowManyAskForThePolicy) {
  ask("HELLO 3");
  ask("RL.POLICY SET api 10/1s");
  const auto callers = [&](const std::string& line) {
    const std::string reply = ask(line);
    const size_t at = reply.find("\"callers\": ");
    return at == std::string::npos ? "none" : reply.substr(at + 11, 1);
  };
  EXPECT_EQ(callers("RL.TAKE k POLICY api FULL"), "0");
  ask("CLIENT SETNAME one");
  EXPECT_EQ(callers("RL.TAKE k POLICY api FULL"), "1");
  ask("CLIENT SETNAME two");
  EXPECT_EQ(callers("RL.PEEK k POLICY api FULL"), "2");
  EXPECT_EQ(callers("RL.MTAKE 2 a b EACH POLICY api EACH POLICY api FULL"), "2");
  EXPECT_EQ(callers("RL.TAKE k 10/1s FULL"), "none");
  server_->advance(kMinute);
  EXPECT_EQ(callers("RL.ACQUIRE k POLICY api TIMEOUT 0 FULL"), "1");
}

}  // namespace
}  // namespace weir::server
