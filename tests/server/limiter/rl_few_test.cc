// A key with a few limits is taken from at once where it has just those that the request names
// (take/single.h), and by all the steps where it has not. Both answer and write alike.
#include "base/ascii.h"
#include "tests/algorithms/rng.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using algorithms::testing::Rng;

// The first few are asked most often, so that the key mostly has what is named.
constexpr std::string_view kNamed[] = {
    "GCRA 5/1s FIXED 9/10s",
    "POLICY two",
    "POLICY two GCRA 3/1s",
    "FIXED 9/10s GCRA 5/1s",
    "GCRA 5/1s AS a FIXED 9/10s AS b",
    "TOKENBUCKET 4/1s SLIDINGCOUNTER 7/2s LEAKY 5/1s WARMUP 6/1s OVER 3s",
    "POLICY one",
    "BURSTY 5/1s FIXED 3/1h ALIGN DAY FIXED 30 ALIGN MONTH OFFSET +05:30",
    "GCRA 5/1s",
    "SLIDINGWINDOW 6/2s GCRA 5/1s",
    "SLIDINGLOG 5/1s",
    "GCRA 1/1h GCRA 2/1h GCRA 3/1h GCRA 4/1h GCRA 5/1h",
};

// UPTO adds a number to the end of what is told of each key.
std::string without_granted(std::string reply) {
  for (size_t end = 0; (end = reply.find(']', end)) != reply.npos; ++end) {
    if (!is_digit(reply[end - 1])) continue;
    const size_t comma = reply.rfind(',', end);
    reply.erase(comma, end - comma);
    end = comma;
  }
  return reply;
}

class RlFew : public LimiterTest {
 protected:
  void SetUp() override {
    ask("RL.POLICY SET one GCRA 4/1s");
    ask("RL.POLICY SET two GCRA 4/1s FIXED 11/10s");
  }

  std::string dump(std::string_view key) { return client_->call({"DUMP", std::string(key)}); }

  // What both keys are asked; UPTO makes no difference to one permit, and goes all the steps.
  void ask_both(Rng& rng) {
    const auto most = rng.one_in(3) ? std::ssize(kNamed) : 2;
    const std::string named(kNamed[rng.between(0, most - 1)]);
    const std::string cost = rng.one_in(5) ? " COST 0" : "";
    const bool full = rng.one_in(2);
    const std::string words = named + cost + (full ? " HEADERS" : "");
    const std::string at_once = ask("RL.TAKE a " + words);
    std::string by_steps = ask("RL.TAKE b " + words + " UPTO");
    if (!full && by_steps.starts_with('['))
      by_steps = by_steps.substr(0, by_steps.rfind(',')) + "]";
    ASSERT_EQ(at_once, by_steps) << words;
    ASSERT_EQ(dump("a"), dump("b")) << words;
    if (at_once.starts_with("[0")) ++denied_;
  }

  int denied_ = 0;
};

TEST_F(RlFew, TheShortWayAndAllTheStepsAgree) {
  Rng rng(5);
  for (int i = 0; i < 6'000 && !HasFatalFailure(); ++i) {
    ask_both(rng);
    if (rng.one_in(300)) ask("DEL a b");
    if (rng.one_in(200))
      ask("RL.POLICY SET two GCRA 4/1s FIXED " + std::to_string(rng.between(8, 11)) + "/10s");
    server_->advance(rng.between(0, rng.one_in(20) ? 20 * kNsPerS : kNsPerS / 5));
  }
  EXPECT_GT(denied_, 500);
}

TEST_F(RlFew, SoTheyDoForSeveralKeys) {
  Rng rng(6);
  int denied = 0;
  for (int i = 0; i < 4'000 && !HasFailure(); ++i) {
    const auto most = rng.one_in(3) ? std::ssize(kNamed) : 2;
    const std::string first(kNamed[rng.between(0, most - 1)]);
    const std::string second(kNamed[rng.between(0, most - 1)]);
    const std::string words = " EACH " + first + " EACH " + second;
    const std::string at_once = ask("RL.MTAKE 2 a c" + words);
    const std::string by_steps = ask("RL.MTAKE 2 b d" + words + " UPTO");
    EXPECT_EQ(at_once, without_granted(by_steps)) << words;
    EXPECT_EQ(dump("a"), dump("b")) << words;
    EXPECT_EQ(dump("c"), dump("d")) << words;
    if (at_once.starts_with("[0")) ++denied;
    if (rng.one_in(300)) ask("DEL a b c d");
    server_->advance(rng.between(0, rng.one_in(20) ? 20 * kNsPerS : kNsPerS / 5));
  }
  EXPECT_GT(denied, 500);
}

TEST_F(RlFew, ACostOfEachKeyIsItsLimits) {
  Rng rng(7);
  for (int i = 0; i < 1'000 && !HasFailure(); ++i) {
    const std::string words = " EACH GCRA 9/1s FIXED 20/10s EACH GCRA 9/1s KEYCOSTS " +
                              std::to_string(rng.between(1, 4)) + "," +
                              std::to_string(rng.between(1, 4));
    ask("RL.MTAKE 2 a c" + words);
    ask("RL.MTAKE 2 b d" + words + " FULL");
    EXPECT_EQ(dump("a"), dump("b")) << words;
    EXPECT_EQ(dump("c"), dump("d")) << words;
    server_->advance(rng.between(0, kNsPerS / 2));
  }
  EXPECT_NE(dump("a"), dump("c"));
}

}  // namespace
}  // namespace weir::server
