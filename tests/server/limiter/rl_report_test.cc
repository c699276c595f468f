// ADAPTIVE and RL.REPORT: counts that follow what callers tell.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

const std::string kApi = "10/1s ADAPTIVE 1..60";

class RlReport : public LimiterTest {
 protected:
  std::string take(const std::string& key, int cost = 1) {
    return ask("RL.TAKE " + key + " " + kApi + " COST " + std::to_string(cost));
  }
  // Raises the count of a key by a step: a round in which all is used.
  void raise(const std::string& key) {
    for (int i = 0; i < 60; ++i) take(key);
    server_->clock.advance(kSecond);
    ask("RL.REPORT " + key + " OK");
  }
};

TEST_F(RlReport, AFailureLowersARoundRaises) {
  EXPECT_EQ(take("k"), "[1, 10, 9, 0, 100, 0]");
  EXPECT_EQ(ask("RL.REPORT k FAIL LATENCY 12"), "[[\"gcra0\", 8, 1, 60]]");
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 8, 8, 0, 0, 0]")
      << "what is left stays as far as there is room";
  EXPECT_EQ(ask("rl.report k fail"), "[[\"gcra0\", 8, 1, 60]]") << "not twice in a round";
  EXPECT_EQ(take("k", 8), "[1, 8, 0, 0, 1000, 0]");
  EXPECT_EQ(take("k"), "[0, 8, 0, 125, 1000, 0]");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 8, 1, 60]]") << "the round had a failure";
  EXPECT_EQ(take("k", 8), "[1, 8, 0, 0, 1000, 0]");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.REPORT k OK LATENCY 3s"), "[[\"gcra0\", 9, 1, 60]]");
  EXPECT_EQ(ask("RL.PEEK k " + kApi + " COST 0"), "[1, 9, 8, 0, 112, 0]") << "a raise is no burst";
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 9, 1, 60]]") << "nothing was used";
}

TEST_F(RlReport, WhatTheAnswersShowIsThePresentCapacity) {
  take("k");
  ask("RL.REPORT k FAIL");
  const std::string full = ask("RL.TAKE k " + kApi + " HEADERS");
  EXPECT_NE(full.find("\"capacity\", 8, \"remaining\", 7"), full.npos) << full;
  EXPECT_NE(full.find("\\\"default\\\";q=8;w=1"), full.npos) << full;
  EXPECT_EQ(ask("RL.TAKE k " + kApi + " COST 8"), "[0, 8, 7, 125, 125, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + kApi + " COST 9"), "[0, 8, 7, -1, 125, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + kApi + " COST 9 UPTO"), "[1, 8, 0, 0, 1000, 0, 7]");
  EXPECT_EQ(ask("RL.TAKE k " + kApi + " COST 2 FORCE"), "[1, 8, -2, 0, 1250, 0]");
}

TEST_F(RlReport, InfoShowsTheCountItsBoundsAndTheLastReport) {
  ask("RL.TAKE k LEAKY 10/1s ADAPTIVE 1..60 SLOW 250ms");
  const std::string info = ask("RL.INFO k");
  EXPECT_NE(info.find("\"LEAKY 10/1s CAPACITY 10 ADAPTIVE 1..60 SLOW 250ms\""), info.npos) << info;
  EXPECT_NE(
      info.find(
          "\"adaptive\", [\"count\", 10, \"min\", 1, \"max\", 60, \"count_of\", \"key\", "
          "\"last_report\", (nil), \"last_report_ms_ago\", (nil), \"last_latency_ms\", (nil)]"),
      info.npos)
      << info;
  EXPECT_EQ(ask("RL.REPORT k OK LATENCY 250"), "[[\"leaky0\", 10, 1, 60]]");
  EXPECT_EQ(ask("RL.REPORT k OK LATENCY 250001us"), "[[\"leaky0\", 8, 1, 60]]") << "slow is failed";
  server_->clock.advance(3 * kSecond);
  const std::string later = ask("RL.INFO k");
  EXPECT_NE(
      later.find("\"count\", 8, \"min\", 1, \"max\", 60, \"count_of\", \"key\", \"last_report\", "
                 "\"FAIL\", \"last_report_ms_ago\", 3000, \"last_latency_ms\", 251]"),
      later.npos)
      << later;
  EXPECT_NE(later.find("\"limit\", 8"), later.npos) << later;
}

TEST_F(RlReport, ErrorsSayWhatIsAccepted) {
  EXPECT_EQ(ask("RL.REPORT nobody OK"), "(nil)");
  ask("SET s x");
  EXPECT_EQ(ask("RL.REPORT s OK"),
            "(error WRONGTYPE Operation against a key holding the wrong kind of value)");
  ask("SET tat 1700000000123456789");
  EXPECT_EQ(ask("RL.REPORT tat OK").substr(0, 16), "(error WRONGTYPE");
  ask("RL.TAKE plain 10/1s FIXED 5/1m");
  EXPECT_EQ(
      ask("RL.REPORT plain OK"),
      "(error ERR no limit that the key was last used with has ADAPTIVE: GCRA 10/1s FIXED 5/1m)");
  EXPECT_EQ(ask("RL.REPORT k MAYBE"), "(error ERR syntax error at 'MAYBE': expected OK or FAIL)");
  EXPECT_EQ(ask("RL.REPORT k OK SPEED 3"),
            "(error ERR syntax error at 'SPEED': after OK or FAIL comes LATENCY with a time, or "
            "nothing)");
  EXPECT_EQ(
      ask("RL.REPORT k OK LATENCY 3 4"),
      "(error ERR syntax error at '4': after OK or FAIL comes LATENCY with a time, or nothing)");
  for (const std::string bad : {"-1", "x", "25h", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(
        ask("RL.REPORT k OK LATENCY " + bad),
        "(error ERR LATENCY must be an integer and a unit (us ms s m h d w), or milliseconds, "
        "at most 1d, got '" +
            bad + "')");
  }
  EXPECT_EQ(ask("RL.REPORT k OK LATENCY").substr(0, 30), "(error ERR LATENCY must be an ");
  EXPECT_EQ(ask("RL.TAKE k 10/1s ADAPTIVE 11..60"),
            "(error ERR limit 0 (GCRA): ADAPTIVE must be min..max with 1 <= min <= 10, the count, "
            "and max at least that, got '11..60')");
  EXPECT_EQ(
      ask("RL.TAKE k FIXED 10/1s ADAPTIVE 1..60"),
      "(error ERR syntax error at 'ADAPTIVE': expected an option of FIXED (ALIGN, ON, OFFSET, "
      "ZONE, BAN or "
      "AS), another limit, or COST, UPTO, SHADOW, FORCE, ID, HOLD, FULL, HEADERS, LEGACY, "
      "PROBLEM, PARTITION, ONCHANGE or TRACEPARENT; "
      "ADAPTIVE is an option of GCRA, TOKENBUCKET or LEAKY)");
}

TEST_F(RlReport, AllAdaptiveLimitsOfTheLastRequestAreTold) {
  ask("RL.TAKE k FIXED 5/1m LEAKY 10/1s ADAPTIVE 1..60 20/1s ADAPTIVE 20..20");
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "[[\"leaky1\", 8, 1, 60], [\"gcra2\", 20, 20, 20]]");
}

TEST_F(RlReport, TheCountSurvivesKillAndMoves) {
  take("k");
  ask("RL.REPORT k FAIL");
  take("k", 8);
  restart();
  EXPECT_EQ(take("k"), "[0, 8, 0, 125, 1000, 0]");
  ask("COPY k c");
  ask("RENAME k r");
  EXPECT_EQ(take("c"), "[0, 8, 0, 125, 1000, 0]");
  EXPECT_EQ(take("r"), "[0, 8, 0, 125, 1000, 0]");
  ask("EVAL return(redis.call('RESTORE',KEYS[2],0,redis.call('DUMP',KEYS[1]))) 2 c d");
  EXPECT_EQ(take("d"), "[0, 8, 0, 125, 1000, 0]");
  EXPECT_EQ(ask("RL.REPORT r FAIL"), "[[\"gcra0\", 8, 1, 60]]") << "the round survives, too";
}

TEST_F(RlReport, TheKeyIsKeptForAnHourSoThatReportsFindIt) {
  take("k");
  server_->advance(3599 * kSecond);
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "[[\"gcra0\", 8, 1, 60]]");
  server_->advance(3599 * kSecond);
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 8, 8, 0, 0, 0]");
  server_->advance(2 * kSecond);
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "(nil)");
  EXPECT_EQ(take("k"), "[1, 10, 9, 0, 100, 0]") << "the count is the start again";
}

TEST_F(RlReport, AChangedLimitBeginsAtItsCountAndWhatWasUsedStaysUsed) {
  take("k", 8);
  ask("RL.REPORT k FAIL");
  EXPECT_EQ(ask("RL.TAKE k 10/1s ADAPTIVE 1..61"), "[1, 10, 1, 0, 900, 0]");
  ask("RL.REPORT k FAIL");
  EXPECT_EQ(ask("RL.TAKE k 10/1s COST 2"), "[0, 10, 1, 100, 900, 0]") << "without ADAPTIVE";
  EXPECT_EQ(ask("RL.REPORT k FAIL").substr(0, 31), "(error ERR no limit that the ke");
}

TEST_F(RlReport, ARaiseIsSeenByWhoWaits) {
  const std::string limit = "1/1m ADAPTIVE 1..1000";
  ask("RL.TAKE k " + limit);
  auto waiter = server_->connect();
  auto second = server_->connect();
  send(*waiter, "RL.ACQUIRE k " + limit + " TIMEOUT 100s");
  send(*second, "RL.ACQUIRE k " + limit + " TIMEOUT 200s");
  server_->advance(10 * kSecond);
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 20, 1, 1000]]");
  server_->advance(2'499 * kSecond / 1000);
  EXPECT_EQ(heard(*waiter), "") << "a sixth of a permit was there, the rest comes in 2.5 s";
  server_->advance(kSecond / 1000);
  EXPECT_EQ(heard(*waiter), "[1, 20, 0, 0, 60000, 0]");
  server_->advance(3 * kSecond);
  EXPECT_EQ(heard(*second), "[1, 20, 0, 0, 60000, 0]");
}

TEST_F(RlReport, WhoWaitsIsNotLostWhenTheCountIsLowered) {
  auto first = server_->connect();
  auto second = server_->connect();
  take("k", 10);
  send(*first, "RL.ACQUIRE k " + kApi + " TIMEOUT 60s");
  send(*second, "RL.ACQUIRE k " + kApi + " TIMEOUT 60s");
  ask("RL.REPORT k FAIL");
  server_->advance(124 * kSecond / 1000);
  EXPECT_EQ(heard(*first), "");
  server_->advance(kSecond / 1000);
  EXPECT_EQ(heard(*first), "[1, 8, 0, 0, 1000, 0]");
  server_->advance(125 * kSecond / 1000);
  EXPECT_EQ(heard(*second), "[1, 8, 0, 0, 1000, 0]");
}

TEST_F(RlReport, APromisedDepartureStays) {
  const std::string limit = "LEAKY 10/1s ADAPTIVE 1..10";
  ask("RL.TAKE k " + limit + " COST 5");
  auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE k " + limit + " TIMEOUT 60s");
  ask("RL.REPORT k FAIL");
  server_->advance(599 * kSecond / 1000);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(kSecond / 1000);
  EXPECT_EQ(heard(*waiter).substr(0, 7), "[1, 8, ");
}

TEST_F(RlReport, BookingsAndHoldsAreFoundAfterAChange) {
  take("k", 10);
  const std::string booked = ask("RL.RESERVE k " + kApi + " COST 5 MAXWAIT 10s");
  EXPECT_EQ(booked.substr(0, 9), "[1, 500, ") << booked;
  ask("RL.REPORT k FAIL");
  EXPECT_EQ(take("k"), "[0, 8, -5, 750, 1625, 0]") << "owed are five";
  EXPECT_EQ(ask("RL.CANCEL k " + booked.substr(9, booked.size() - 10)), "5");
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 8, 0, 0, 1000, 0]");
  server_->clock.advance(kSecond);
  const std::string held = ask("RL.TAKE k " + kApi + " COST 8 HOLD 60s");
  EXPECT_EQ(held.substr(0, 23), "[1, 8, 0, 0, 1000, 0, 2") << held;
  server_->clock.advance(kSecond / 2);
  ask("RL.REPORT k FAIL");
  const std::string id = held.substr(22, held.size() - 23);
  EXPECT_EQ(ask("RL.SETTLE k " + id + " 2"), "[1, 6, 6, 0, 0, 0]");
}

TEST_F(RlReport, WhatIsGivenBackIsNotUsed) {
  take("k", 10);
  ask("RL.REFUND k 6");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 10, 1, 60]]") << "four are less than half of ten";
  take("k", 10);
  ask("RL.REFUND k 5");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 11, 1, 60]]");
}

TEST_F(RlReport, OtherWordsGoOnBesideIt) {
  const std::string banned = "10/1s ADAPTIVE 1..60 BAN 1m AFTER 1 WITHIN 1m";
  for (int i = 0; i < 10; ++i) ask("RL.TAKE k " + banned);
  EXPECT_EQ(ask("RL.TAKE k " + banned), "[0, 10, 0, 60000, 1000, 0]");
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "[[\"gcra0\", 8, 1, 60]]");
  EXPECT_EQ(ask("RL.TAKE k " + banned), "[0, 8, 0, 60000, 1000, 0]");
  EXPECT_EQ(ask("RL.TAKE s " + kApi + " COST 11 SHADOW"), "[1, 10, 10, -1, 0, 0]");
  EXPECT_EQ(ask("RL.REPORT s FAIL"), "(nil)") << "nothing was taken";
  EXPECT_EQ(ask("RL.MTAKE 2 a b " + kApi + " " + kApi),
            "[1, -1, [1, 10, 9, 0, 100, 0], [1, 10, 9, 0, 100, 0]]");
  EXPECT_EQ(ask("RL.TAKE i " + kApi + " ID x"), "[1, 10, 9, 0, 100, 0]");
  ask("RL.REPORT i FAIL");
  EXPECT_EQ(ask("RL.TAKE i " + kApi + " ID x"), "[1, 10, 9, 0, 100, 0]") << "as it was answered";
  EXPECT_EQ(ask("RL.RESET i"), "1");
  EXPECT_EQ(take("i"), "[1, 10, 9, 0, 100, 0]");
}

TEST_F(RlReport, NoReportLeavesTheBounds) {
  take("k");
  for (int i = 0; i < 30; ++i) {
    ask("RL.REPORT k FAIL");
    server_->clock.advance(kSecond);
  }
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "[[\"gcra0\", 1, 1, 60]]");
  server_->clock.advance(kSecond);
  for (int i = 0; i < 80; ++i) raise("k");
  EXPECT_EQ(ask("RL.REPORT k OK"), "[[\"gcra0\", 60, 1, 60]]");
}

class RlPolicyReport : public RlReport {
 protected:
  void SetUp() override { ask("RL.POLICY SET p GCRA 10/1s ADAPTIVE 1..60 AS down FIXED 100/1m"); }
};

TEST_F(RlPolicyReport, AllKeysOfThePolicyHaveItsCount) {
  EXPECT_EQ(ask("RL.TAKE a POLICY p COST 3"), "[1, 10, 7, 0, 300, 0]");
  EXPECT_EQ(ask("RL.POLICY REPORT p FAIL"), "[[\"down\", 8, 1, 60]]");
  EXPECT_EQ(ask("RL.TAKE a POLICY p COST 3"), "[1, 8, 4, 0, 500, 0]");
  EXPECT_EQ(ask("RL.TAKE b POLICY p"), "[1, 8, 7, 0, 125, 0]");
  EXPECT_EQ(ask("RL.POLICY REPORT p FAIL LATENCY 10"), "[[\"down\", 8, 1, 60]]");
  const std::string info = ask("RL.INFO b");
  EXPECT_NE(info.find("\"count\", 8, \"min\", 1, \"max\", 60, \"count_of\", \"policy\""), info.npos)
      << info;
  EXPECT_EQ(ask("RL.REPORT b FAIL"),
            "(error ERR the key's counts are those of its policy, which RL.POLICY REPORT changes)");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.POLICY REPORT p OK"), "[[\"down\", 8, 1, 60]]") << "the round had a failure";
  ask("RL.TAKE b POLICY p COST 4");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.POLICY REPORT p OK"), "[[\"down\", 9, 1, 60]]") << "b was used to the half";
  ask("RL.TAKE b POLICY p COST 3");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.POLICY REPORT p OK"), "[[\"down\", 9, 1, 60]]") << "no key was";
}

TEST_F(RlPolicyReport, ItSurvivesARestartAndEndsWithItsLimits) {
  ask("RL.TAKE a POLICY p");
  ask("RL.POLICY REPORT p FAIL");
  restart();
  EXPECT_EQ(ask("RL.TAKE a POLICY p"), "[1, 8, 7, 0, 125, 0]");
  EXPECT_EQ(ask("RL.POLICY GET p").find("10/1s") != std::string::npos, true);
  ask("RL.POLICY SET p GCRA 10/1s ADAPTIVE 1..60 AS api FIXED 100/1m");
  EXPECT_EQ(ask("RL.TAKE b POLICY p"), "[1, 8, 7, 0, 125, 0]") << "the same limits";
  ask("RL.POLICY SET p GCRA 20/1s ADAPTIVE 1..60 FIXED 100/1m");
  EXPECT_EQ(ask("RL.TAKE b POLICY p"), "[1, 20, 16, 0, 200, 0]")
      << "other limits; what 8 lacks of 10 counts as used";
  ask("RL.POLICY SET p GCRA 10/1s ADAPTIVE 1..60 FIXED 100/1m");
  EXPECT_EQ(ask("RL.TAKE c POLICY p"), "[1, 10, 9, 0, 100, 0]") << "and they are new";
  ask("RL.POLICY REPORT p FAIL");
  ask("RL.POLICY DEL p");
  ask("RL.POLICY SET p GCRA 10/1s ADAPTIVE 1..60 FIXED 100/1m");
  EXPECT_EQ(ask("RL.TAKE d POLICY p"), "[1, 10, 9, 0, 100, 0]");
}

TEST_F(RlPolicyReport, BeforeItsFirstReportEachKeyHasItsOwn) {
  ask("RL.TAKE a POLICY p");
  EXPECT_EQ(ask("RL.REPORT a FAIL"), "[[\"gcra0\", 8, 1, 60]]");
  EXPECT_EQ(ask("RL.TAKE b POLICY p"), "[1, 10, 9, 0, 100, 0]");
  EXPECT_EQ(ask("RL.TAKE a POLICY p"), "[1, 8, 7, 0, 125, 0]");
}

TEST_F(RlPolicyReport, ErrorsAndOverrides) {
  EXPECT_EQ(ask("RL.POLICY REPORT q OK"),
            "(error ERR no policy is named 'q'; RL.POLICY SET makes one)");
  ask("RL.POLICY SET q 10/1s");
  EXPECT_EQ(ask("RL.POLICY REPORT q OK"),
            "(error ERR no limit of the policy has ADAPTIVE: GCRA 10/1s)");
  EXPECT_EQ(ask("RL.POLICY REPORT p WELL").substr(0, 25), "(error ERR syntax error a");
  ask("RL.POLICY OVERRIDE p KEY vip 50/1s ADAPTIVE 1..60");
  ask("RL.POLICY REPORT p FAIL");
  EXPECT_EQ(ask("RL.TAKE vip POLICY p"), "[1, 50, 49, 0, 20, 0]") << "an override has its own";
  EXPECT_EQ(ask("RL.TAKE a POLICY p 7/1s ADAPTIVE 1..9"), "[1, 7, 6, 0, 143, 2]")
      << "so has a limit beside the policy";
  EXPECT_EQ(ask("RL.REPORT a FAIL"), "[[\"gcra0\", 8, 1, 60], [\"gcra2\", 5, 1, 9]]");
  ask("RL.POLICY SET u UNLIMITED");
  EXPECT_EQ(ask("RL.POLICY REPORT u OK").substr(0, 34), "(error ERR no limit of the policy ");
}

TEST_F(RlPolicyReport, WhoMayOnlyAskReportsOfItsKeysAlone) {
  ask("ACL SETUSER shop on nopass +@ratelimit ~shop:*");
  auto shop = server_->connect();
  server::ask(*shop, "AUTH shop x");
  EXPECT_EQ(server::ask(*shop, "RL.TAKE shop:1 10/1s ADAPTIVE 1..60"), "[1, 10, 9, 0, 100, 0]");
  EXPECT_EQ(server::ask(*shop, "RL.REPORT shop:1 FAIL"), "[[\"gcra0\", 8, 1, 60]]");
  EXPECT_EQ(server::ask(*shop, "RL.REPORT other:1 FAIL").substr(0, 13), "(error NOPERM");
  EXPECT_EQ(server::ask(*shop, "RL.POLICY REPORT p FAIL").substr(0, 13), "(error NOPERM");
  ask("ACL SETUSER shop +rl.policy|report policy~free-*");
  EXPECT_EQ(server::ask(*shop, "RL.POLICY REPORT p FAIL").substr(0, 13), "(error NOPERM");
  ask("RL.POLICY SET free-1 10/1s ADAPTIVE 1..60");
  EXPECT_EQ(server::ask(*shop, "RL.POLICY REPORT free-1 FAIL"), "[[\"gcra0\", 8, 1, 60]]");
}

// What was used of a count that was lowered is not forgotten before the limit as it was written,
// which is the one that begins again, would have it back.
TEST_F(RlReport, ALoweredCountIsNotForgottenEarly) {
  ask("RL.TAKE k 100/1d ADAPTIVE 1..100 COST 20");
  EXPECT_EQ(ask("RL.REPORT k FAIL"), "[[\"gcra0\", 80, 1, 100]]");
  server_->advance(61 * 60 * kSecond);
  EXPECT_EQ(ask("RL.PEEK k 100/1d ADAPTIVE 1..100").substr(0, 8), "[1, 80, ");
  server_->advance(4 * 3600 * kSecond);
  EXPECT_EQ(ask("EXISTS k"), "0");
}

TEST_F(RlReport, AnotherPolicyInBetweenForgetsNothing) {
  ask("RL.POLICY SET a 100/1d ADAPTIVE 1..100");
  ask("RL.POLICY SET b 1000000/1s");
  int64_t granted = 0;
  for (int i = 0; i < 10; ++i) {
    if (ask("RL.TAKE k POLICY a COST 20").starts_with("[1, ")) granted += 20;
    ask("RL.REPORT k FAIL");
    ask("RL.TAKE k POLICY b");
  }
  EXPECT_LE(granted, 100);
}

TEST_F(RlReport, WhatWasUsedStaysUsedUnderOtherLimits) {
  ask("RL.TAKE k 100/1d ADAPTIVE 1..100 COST 20");
  ask("RL.REPORT k FAIL");
  EXPECT_EQ(ask("RL.PEEK k 100/1d").substr(0, 12), "[1, 100, 79,");
  EXPECT_EQ(ask("RL.PEEK k 100/1d ADAPTIVE 1..101").substr(0, 12), "[1, 100, 79,");
}

}  // namespace
}  // namespace weir::server
