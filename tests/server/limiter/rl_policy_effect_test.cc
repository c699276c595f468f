// What a policy does with requests other than by its limits: SHADOW, PERCENT, UNLIMITED, BLOCKED.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlPolicyEffect : public LimiterTest {
 protected:
  int64_t metric(std::string_view name) {
    const std::string info = server_->connect()->call({"INFO", "limiter"});
    const size_t at = info.find("\r\n" + std::string(name) + ":");
    return at == info.npos ? -1 : std::stoll(info.substr(at + name.size() + 3));
  }
};

TEST_F(RlPolicyEffect, IsShownAsItWasSet) {
  for (const char* effect : {"GCRA 5/1s BURST 4", "GCRA 5/1s BURST 4 SHADOW", "UNLIMITED",
                             "GCRA 5/1s BURST 4 AS x PERCENT 7", "BLOCKED"}) {
    EXPECT_EQ(ask(std::string("RL.POLICY SET p ") + effect + " ONCHANGE RESET"), "OK") << effect;
    restart();
    const std::string shown =
        std::string("[\"limits\", \"") + effect + "\", \"onchange\", \"RESET\"";
    EXPECT_EQ(ask("RL.POLICY GET p").substr(0, shown.size()), shown);
  }
  ask("RL.POLICY SET p GCRA 5/1s ONCHANGE ASIS PERCENT 100");
  EXPECT_EQ(ask("RL.POLICY GET p").substr(0, 53),
            "[\"limits\", \"GCRA 5/1s BURST 4\", \"onchange\", \"ASIS\", \"");
  ask("RL.POLICY SET p 5/1s PERCENT 0");
  EXPECT_NE(ask("RL.POLICY GET p").find(" SHADOW\""), std::string::npos);
}

TEST_F(RlPolicyEffect, RefusesWhatMakesNoSense) {
  const std::string modes = "USED, RESET, ASIS, PROPORTIONAL or ADDITIVE";
  const std::pair<const char*, std::string> errors[] = {
      {"UNLIMITED SHADOW", "syntax error at 'SHADOW': expected ONCHANGE with " + modes},
      {"BLOCKED 5/1s", "syntax error at '5/1s': expected ONCHANGE with " + modes},
      {"5/1s SHADOW PERCENT 4", "syntax error at 'PERCENT': expected ONCHANGE with " + modes +
                                    "; SHADOW is PERCENT 0: one of them is given, once"},
      {"5/1s PERCENT 101", "PERCENT must be an integer between 0 and 100, got '101'"},
      {"5/1s PERCENT 1.5", "PERCENT must be an integer between 0 and 100, got '1.5'"},
      {"5/1s PERCENT -1", "PERCENT must be an integer between 0 and 100, got '-1'"},
      {"5/1s PERCENT 5 SHADOW", "syntax error at 'SHADOW': expected ONCHANGE with " + modes +
                                    "; SHADOW is PERCENT 0: one of them is given, once"},
      {"5/1s PERCENT", "PERCENT must be an integer between 0 and 100, got 'nothing'"},
      {"5/1s ONCHANGE", "ONCHANGE must be " + modes + ", got 'nothing'"},
      {"5/1s UNLIMITED",
       "syntax error at 'UNLIMITED': expected another limit, SHADOW, PERCENT "
       "with a number, or ONCHANGE with " +
           modes},
  };
  for (const auto& [words, error] : errors) {
    EXPECT_EQ(ask(std::string("RL.POLICY SET p ") + words), "(error ERR " + error + ")");
  }
}

TEST_F(RlPolicyEffect, BlockedDeniesAllAndChargesNothing) {
  ask("RL.POLICY SET p BLOCKED");
  const std::string denied = "[0, 0, 0, -1, -1, -1]";
  for (const char* request :
       {"RL.TAKE k POLICY p", "RL.TAKE k POLICY p COST 0", "RL.TAKE k POLICY p FORCE",
        "RL.TAKE k POLICY p COST 1,2,3", "RL.TAKE k GCRA 5/1s POLICY p", "RL.PEEK k POLICY p",
        "RL.TAKE k POLICY p ID x", "RL.ACQUIRE k POLICY p TIMEOUT 0",
        "RL.ACQUIRE k LEAKY 5/1s POLICY p TIMEOUT 10s"}) {
    EXPECT_EQ(ask(request), denied) << request;
  }
  EXPECT_EQ(ask("RL.TAKE k POLICY p UPTO COST 4"), "[0, 0, 0, -1, -1, -1, 0]");
  EXPECT_EQ(ask("RL.TAKE k POLICY p SHADOW"), "[1, 0, 0, -1, -1, -1]");
  EXPECT_EQ(ask("RL.RESERVE k POLICY p MAXWAIT 10s"), "[0, -1, (nil)]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s EACH POLICY p"),
            "[0, 1, [1, 5, 5, 0, 0, 0], [0, 0, 0, -1, -1, -1]]");
  EXPECT_EQ(ask("RL.MTAKE 3 a b c 5/1s POLICY p"),
            "[0, 1, [1, 5, 5, 0, 0, 0], [0, 0, 0, -1, -1, -1], [0, 0, 0, -1, -1, -1]]");
  EXPECT_EQ(ask("EXISTS k a b c"), "0");
  EXPECT_EQ(ask("RL.TAKE k POLICY p HEADERS"),
            "[\"allowed\", 0, \"retry_ms\", -1, \"granted\", 0, \"lease\", (nil), \"shadow\", 0, "
            "\"banned\", 0, \"policy\", \"p\", \"callers\", 0, \"limits\", [], \"headers\", []]");
}

TEST_F(RlPolicyEffect, UnlimitedAddsNoLimit) {
  ask("RL.POLICY SET p UNLIMITED");
  const std::string allowed = "[1, -1, -1, 0, 0, -1]";
  for (const char* request :
       {"RL.TAKE k POLICY p COST 1000000", "RL.TAKE k POLICY p COST 0", "RL.TAKE k POLICY p FORCE",
        "RL.TAKE k POLICY p COST 1,2,3", "RL.PEEK k POLICY p", "RL.TAKE k POLICY p ID x",
        "RL.TAKE k POLICY p SHADOW", "RL.ACQUIRE k POLICY p TIMEOUT 0"}) {
    EXPECT_EQ(ask(request), allowed) << request;
  }
  EXPECT_EQ(ask("RL.TAKE k POLICY p UPTO COST 4"), "[1, -1, -1, 0, 0, -1, 4]");
  EXPECT_EQ(ask("RL.RESERVE k POLICY p COST 99").substr(0, 7), "[1, 0, ");
  EXPECT_EQ(ask("EXISTS k"), "0");
  EXPECT_EQ(ask("RL.TAKE k 5/1s POLICY p COST 2"), "[1, 5, 3, 0, 400, 0]");
  EXPECT_EQ(ask("RL.TAKE k 5/1s POLICY p COST 4").substr(0, 5), "[0, 5");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s EACH POLICY p"),
            "[1, -1, [1, 5, 4, 0, 200, 0], [1, -1, -1, 0, 0, -1]]");
  EXPECT_EQ(ask("RL.MTAKE 3 b c a POLICY p 5/1s"),
            "[1, -1, [1, -1, -1, 0, 0, -1], [1, -1, -1, 0, 0, -1], [1, 5, 3, 0, 400, 0]]");
  EXPECT_EQ(ask("EXISTS b c"), "0");
}

TEST_F(RlPolicyEffect, AFixedAnswerNeverWaits) {
  ask("RL.POLICY SET free UNLIMITED");
  ask("RL.POLICY SET no BLOCKED");
  auto other = server_->connect();
  ask("RL.TAKE k 1/10s");
  send(*other, "RL.ACQUIRE k 1/10s TIMEOUT 0");
  server_->run_turns();
  EXPECT_EQ(ask("RL.TAKE k POLICY free"), "[1, -1, -1, 0, 0, -1]");
  EXPECT_EQ(ask("RL.ACQUIRE k POLICY free TIMEOUT 10s"), "[1, -1, -1, 0, 0, -1]");
  EXPECT_EQ(ask("RL.ACQUIRE k POLICY no TIMEOUT 10s"), "[0, 0, 0, -1, -1, -1]");
  EXPECT_EQ(ask("RL.RESERVE k POLICY no"), "[0, -1, (nil)]");
  EXPECT_EQ(ask("RL.PEEK k POLICY free"), "[1, -1, -1, 0, 0, -1]");
  EXPECT_EQ(heard(*other), "");
}

// The use that limits had before is still there when the policy has limits again.
TEST_F(RlPolicyEffect, TheUseOfLimitsSurvivesAnEmergency) {
  ask("RL.POLICY SET p 5/1h ONCHANGE RESET");
  ask("RL.TAKE k POLICY p COST 5");
  ask("RL.POLICY SET p UNLIMITED ONCHANGE RESET");
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), "[1, -1, -1, 0, 0, -1]");
  ask("RL.POLICY SET p 5/1h ONCHANGE RESET");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 9), "[0, 5, 0,");
}

TEST_F(RlPolicyEffect, WaitersAreAnsweredWhenThePolicyBecomesFixed) {
  for (const auto& [effect, reply] : {std::pair{"BLOCKED", "[0, 0, 0, -1, -1, -1]"},
                                      {"UNLIMITED", "[1, -1, -1, 0, 0, -1]"},
                                      {"1/10s SHADOW", "[1, 1, 0, 10000, 10000, 0]"}}) {
    ask("RL.POLICY SET p 1/10s");
    ask("RL.RESET k");
    ask("RL.TAKE k POLICY p");
    auto one = server_->connect();
    auto two = server_->connect();
    send(*one, "RL.ACQUIRE k POLICY p TIMEOUT 0");
    send(*two, "RL.ACQUIRE k POLICY p TIMEOUT 0");
    server_->run_turns();
    ask(std::string("RL.POLICY SET p ") + effect);
    EXPECT_EQ(heard(*one), reply) << effect;
    EXPECT_EQ(heard(*two), reply) << effect;
  }
}

TEST_F(RlPolicyEffect, ShadowCountsAndNeverDenies) {
  ask("RL.POLICY SET p 2/1h SHADOW");
  EXPECT_EQ(ask("RL.TAKE k POLICY p COST 2"), "[1, 2, 0, 0, 3600000, -1]");
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), "[1, 2, 0, 1800000, 3600000, 0]");
  EXPECT_EQ(ask("RL.PEEK k POLICY p"), "[1, 2, 0, 1800000, 3600000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE k POLICY p TIMEOUT 0"), "[1, 2, 0, 1800000, 3600000, 0]");
  EXPECT_EQ(ask("RL.RESERVE k POLICY p MAXWAIT 1ms").substr(0, 7), "[1, 0, ");
  EXPECT_EQ(ask("RL.TAKE k 2/1h COST 0").substr(0, 6), "[1, 2,");
  EXPECT_EQ(metric("denied"), 0);
  EXPECT_EQ(metric("shadow_allowed"), 1);
  EXPECT_EQ(metric("shadow_denied"), 3);
  EXPECT_EQ(ask("RL.TAKE k POLICY p FORCE").substr(0, 10), "[1, 2, -1,");
  EXPECT_EQ(
      ask("RL.TAKE k POLICY p FULL").substr(0, 90),
      "[\"allowed\", 1, \"retry_ms\", 3600000, \"granted\", 0, \"lease\", (nil), \"shadow\", 1, "
      "\"banned\", 0");
}

// Limits beside it count; what they deny charges nothing of the policy's.
TEST_F(RlPolicyEffect, ShadowDeniesNothingBesideOtherLimits) {
  ask("RL.POLICY SET p FIXED 2/1h SHADOW");
  EXPECT_EQ(ask("RL.TAKE k 5/1h POLICY p COST 2").substr(0, 9), "[1, 5, 3,");
  EXPECT_EQ(ask("RL.TAKE k 5/1h POLICY p").substr(0, 9), "[1, 5, 2,");
  EXPECT_EQ(metric("shadow_denied"), 1);
  EXPECT_EQ(ask("RL.TAKE k POLICY p 5/1h COST 1,2").substr(0, 9), "[1, 5, 0,");
  EXPECT_EQ(ask("RL.TAKE k POLICY p 5/1h FULL").substr(0, 14), "[\"allowed\", 0,");
  EXPECT_EQ(metric("denied"), 1);
  EXPECT_EQ(metric("allowed"), 3);
  EXPECT_EQ(metric("shadow_denied"), 2);
  EXPECT_EQ(ask("RL.TAKE other 1/1h BURST 9 POLICY p UPTO COST 20").substr(0, 8), "[1, 10, ");
  EXPECT_EQ(ask("RL.TAKE none 1/1h BURST 9 POLICY p COST 3 FULL").substr(0, 85),
            "[\"allowed\", 1, \"retry_ms\", 0, \"granted\", 3, \"lease\", (nil), \"shadow\", 1, "
            "\"banned\", 0,");
  EXPECT_EQ(ask("RL.TAKE none FIXED 2/1h COST 0"), "[1, 2, 2, 0, 0, 0]");
  EXPECT_EQ(ask("RL.RESERVE book 5/1h POLICY p COST 3").substr(0, 7), "(error ");
  ask("RL.POLICY SET p 2/1h SHADOW");
  const std::string reserve = "RL.RESERVE book TOKENBUCKET 1/1h CAPACITY 3 POLICY p COST 3";
  EXPECT_EQ(ask(reserve).substr(0, 6), "[1, 0,");
  const std::string booked = ask(reserve);
  EXPECT_EQ(booked.substr(0, 14), "[1, 10800000, ");
  EXPECT_EQ(ask("RL.TAKE book 2/1h"), "[1, 2, 1, 0, 1800000, 0]");
  EXPECT_EQ(ask("RL.CANCEL book " + booked.substr(14, booked.size() - 15)), "3");
  EXPECT_EQ(ask("RL.TAKE book 2/1h COST 0"), "[1, 2, 1, 0, 1800000, 0]");
}

TEST_F(RlPolicyEffect, AShadowedKeyOfManyDeniesNothing) {
  ask("RL.POLICY SET p 1/1h SHADOW");
  ask("RL.TAKE a POLICY p");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH POLICY p EACH 5/1h").substr(0, 26),
            "[1, -1, [1, 1, 0, 3600000,");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH POLICY p EACH 5/1h UPTO COST 3").substr(0, 6), "[1, -1");
  EXPECT_EQ(ask("RL.TAKE b 5/1h COST 0").substr(0, 9), "[1, 5, 1,");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH POLICY p EACH 5/1h COST 2").substr(0, 5), "[0, 1");
}

TEST_F(RlPolicyEffect, AFunnelInShadowDelaysNobody) {
  ask("RL.POLICY SET p LEAKY 1/10s CAPACITY 5 SHADOW");
  EXPECT_EQ(ask("RL.ACQUIRE k POLICY p TIMEOUT 0").substr(0, 2), "[1");
  EXPECT_EQ(ask("RL.ACQUIRE k POLICY p TIMEOUT 0").substr(0, 2), "[1");
}

TEST_F(RlPolicyEffect, ALeaseInShadowIsMadeWhereThereIsRoom) {
  ask("RL.POLICY SET p CONCURRENCY 1 LEASE 1h SHADOW");
  EXPECT_EQ(ask("RL.TAKE k 9/1h POLICY p COST 1 FULL").find("\"lease\", (nil)"), std::string::npos);
  EXPECT_NE(ask("RL.TAKE k 9/1h POLICY p COST 1 FULL").find("\"lease\", (nil)"), std::string::npos);
}

// The keys that are limited at n percent are among those at more.
TEST_F(RlPolicyEffect, PercentAddsKeysAndTakesNoneAway) {
  const int keys = 400;
  std::vector<bool> limited(keys, false);
  for (const int percent : {0, 1, 25, 50, 99, 100}) {
    ask("RL.POLICY SET p 1/1h PERCENT " + std::to_string(percent));
    if (percent == 50) restart();
    int count = 0;
    for (int i = 0; i < keys; ++i) {
      const std::string reply = ask("RL.PEEK k" + std::to_string(i) + " POLICY p COST 2");
      const bool denied = reply[1] == '0';
      EXPECT_TRUE(denied || !limited[i]) << i << " at " << percent;
      limited[i] = denied;
      count += denied ? 1 : 0;
    }
    EXPECT_NEAR(count, keys * percent / 100, percent % 100 == 0 ? 0 : 60);
  }
}

// Two policies choose different keys: no key is always among the unlucky.
TEST_F(RlPolicyEffect, EachPolicyChoosesItsOwnKeys) {
  ask("RL.POLICY SET p 1/1h PERCENT 50");
  ask("RL.POLICY SET q 1/1h PERCENT 50");
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "RL.PEEK k" + std::to_string(i);
    different += ask(key + " POLICY p COST 2") != ask(key + " POLICY q COST 2") ? 1 : 0;
  }
  EXPECT_GT(different, 20);
}

}  // namespace
}  // namespace weir::server
