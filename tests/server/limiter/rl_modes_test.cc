// Laws of limits that are enforced and in shadow, over random requests: each pair of worlds is told
// the same, verdict by verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr const char* kLimits[] = {"GCRA 5/10s",
                                   "TOKENBUCKET 4/10s CAPACITY 6",
                                   "TOKENBUCKET 3/10s CAPACITY 5 INITIAL 0",
                                   "LEAKY 5/10s CAPACITY 4",
                                   "FIXED 6/20s",
                                   "SLIDINGLOG 5/15s",
                                   "SLIDINGCOUNTER 6/15s",
                                   "SLIDINGWINDOW 6/12s",
                                   "CONCURRENCY 4 LEASE 8s"};

class RlModes : public LimiterTest {
 protected:
  size_t below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }
  std::string any_limit() { return kLimits[below(std::size(kLimits))]; }
  std::string any_cost() { return " COST " + std::to_string(below(4)); }
  void pass() { server_->advance(static_cast<int64_t>(below(4)) * kSecond); }

  std::mt19937 random_{20'261'127};
};

// "[1, 5, 3, ...]" without whether it is allowed, and without the index and the ids.
std::string verdict_of(const std::string& reply) {
  std::string text = reply.substr(1);
  for (int comma = 0; comma < 2; ++comma) text = text.substr(text.find(',') + 1);
  const size_t wait = text.find(',');
  return text.substr(0, text.find(',', text.find(',', wait + 1) + 1));
}

std::string without_ids(const std::string& reply) {
  size_t end = 0;
  for (int comma = 0; comma < 6 && end != reply.npos; ++comma) end = reply.find(',', end + 1);
  return reply.substr(0, end == reply.npos ? reply.size() - 1 : end);
}

// What follows a name in a full reply, each time that it is there.
std::vector<std::string> values(const std::string& reply, const std::string& name) {
  const std::string before = '"' + name + "\", ";
  std::vector<std::string> found;
  for (size_t at = reply.find(before); at != reply.npos; at = reply.find(before, at + 1)) {
    const size_t begin = at + before.size();
    found.push_back(reply.substr(begin, reply.find_first_of(",]", begin) - begin));
  }
  return found;
}

// Limits that are all in shadow count and tell what enforced ones would, and deny nothing: by the
// request's word, by its policy, and by the option.
TEST_F(RlModes, ShadowOfAllIsNoneEnforced) {
  for (int world = 0; world < 20; ++world) {
    const std::string name = std::to_string(world);
    const std::string limits = any_limit() + (below(2) == 0 ? " " + any_limit() : "");
    ask("RL.POLICY SET shadow" + name + " " + limits + " SHADOW");
    for (int step = 0; step < 60; ++step) {
      const std::string cost = any_cost() + (below(5) == 0 ? " UPTO" : "");
      const std::string enforced = ask("RL.TAKE a" + name + " " + limits + cost);
      const std::string by_word = ask("RL.TAKE b" + name + " " + limits + cost + " SHADOW");
      const std::string by_policy = ask("RL.TAKE c" + name + " POLICY shadow" + name + cost);
      ask("CONFIG SET limiting shadow");
      const std::string by_option = ask("RL.TAKE d" + name + " " + limits + cost);
      ask("CONFIG SET limiting on");
      const std::string at = limits + cost + " at step " + std::to_string(step);
      for (const std::string& shadowed : {by_word, by_policy, by_option}) {
        EXPECT_EQ(shadowed.substr(0, 3), "[1,") << at;
        EXPECT_EQ(verdict_of(shadowed), verdict_of(enforced)) << at;
      }
      pass();
    }
  }
}

// A policy in shadow beside other limits changes nothing of what those answer.
TEST_F(RlModes, LimitsInShadowBesideOthersChangeNothingForThem) {
  for (int world = 0; world < 20; ++world) {
    const std::string name = std::to_string(world);
    const std::string limits = any_limit();
    ask("RL.POLICY SET beside" + name + " " + any_limit() + " SHADOW");
    for (int step = 0; step < 60; ++step) {
      const std::string cost = any_cost() + (below(5) == 0 ? " UPTO" : "");
      EXPECT_EQ(
          without_ids(ask("RL.TAKE m" + name + " " + limits + " POLICY beside" + name + cost)),
          without_ids(ask("RL.TAKE n" + name + " " + limits + cost)))
          << limits << cost << " at step " << step;
      pass();
    }
  }
}

// RL.MTAKE over keys is RL.TAKE of the same limits on one key, verdict by verdict.
TEST_F(RlModes, ManyKeysAreOneKeyWithTheirLimits) {
  for (int world = 0; world < 20; ++world) {
    const std::string name = std::to_string(world);
    const std::string limits = any_limit() + " " + any_limit() + " " + any_limit();
    for (int step = 0; step < 60; ++step) {
      const std::string words = limits + any_cost() + (below(5) == 0 ? " UPTO" : "") + " FULL";
      const std::string one = ask("RL.TAKE o" + name + " " + words);
      const std::string many = ask("RL.MTAKE 3 p" + name + " q" + name + " r" + name + " " + words);
      const std::string at = words + " at step " + std::to_string(step);
      EXPECT_EQ(values(many, "allowed")[0], values(one, "allowed")[0]) << at;
      EXPECT_EQ(values(many, "retry_ms")[0], values(one, "retry_ms")[0]) << at;
      for (const char* field : {"capacity", "remaining", "reset_ms"})
        EXPECT_EQ(values(many, field), values(one, field)) << field << " of " << at;
      pass();
    }
  }
}

// A key in shadow beside one that denies is asked for nothing, and shows what it has.
TEST_F(RlModes, AKeyInShadowBesideADenialShowsWhatItHas) {
  ask("RL.POLICY SET watched GCRA 5/1h BURST 4 SHADOW");
  ask("RL.TAKE used FIXED 1/1h");
  EXPECT_THAT(ask("RL.MTAKE 2 used s EACH FIXED 1/1h EACH POLICY watched COST 6 UPTO"),
              testing::HasSubstr("[1, 5, 5, 0, 0, -1, 0]"));
}

}  // namespace
}  // namespace weir::server
