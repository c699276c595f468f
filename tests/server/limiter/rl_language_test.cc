// How limits are written in RL.* commands: rates, times, policies among limits, names.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlLanguage : public LimiterTest {};

TEST_F(RlLanguage, ABareRateIsGcraWhereverALimitStands) {
  EXPECT_EQ(ask("RL.TAKE a 100/1m"), "[1, 100, 99, 0, 600, 0]");
  EXPECT_EQ(ask("RL.TAKE a GCRA 100/1m"), "[1, 100, 98, 0, 1200, 0]");
  EXPECT_EQ(ask("RL.TAKE a 100 PER minute COST 2"), "[1, 100, 96, 0, 2400, 0]");
  EXPECT_EQ(ask("RL.PEEK a 100/m"), "[1, 100, 95, 0, 3000, 0]");
  EXPECT_EQ(ask("RL.TAKE b 10/s BURST 0 FIXED 3 PER hour"), "[1, 1, 0, 0, 100, 0]");
  EXPECT_EQ(ask("RL.MTAKE 2 c d 1/s 5/minute"),
            "[1, -1, [1, 1, 0, 0, 1000, 0], [1, 5, 4, 0, 12000, 0]]");
  EXPECT_EQ(ask("RL.ACQUIRE e 1/s TIMEOUT 0"), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(ask("RL.RESERVE f 1/s BURST 0"), "[1, 0, 1]");
  EXPECT_EQ(ask("RL.POLICY SET p 100 per Minute 1000/day ONCHANGE RESET"), "OK");
  EXPECT_EQ(ask("RL.TAKE g POLICY p"), "[1, 100, 99, 0, 600, 0]");
}

TEST_F(RlLanguage, NamesAndKeysGoByPosition) {
  EXPECT_EQ(ask("RL.POLICY SET 5/1m 100/1m"), "OK");
  EXPECT_EQ(ask("RL.TAKE 100/1m POLICY 5/1m ID 7/1m"), "[1, 100, 99, 0, 600, 0]");
  EXPECT_EQ(ask("RL.TAKE GCRA 5/1m"), "[1, 5, 4, 0, 12000, 0]");
  EXPECT_EQ(ask("RL.MTAKE 2 1/1s 2/1s 3/1s 4/1s").substr(0, 13), "[1, -1, [1, 3");
  EXPECT_EQ(ask("RL.PEEK 1/1s"), "[1, 3, 1, 0, 667, 0]");
}

TEST_F(RlLanguage, ARateWithoutAUnitIsRefusedAndOffered) {
  EXPECT_EQ(ask("RL.TAKE k 100/60"),
            "(error ERR limit 0 (GCRA): rate must be count/period with a unit (us ms s m h d w, in "
            "lower case, or second minute hour day week), for example 100/60s, got '100/60')");
}

// Most who leave the unit out think of seconds: 30 ms limit nothing.
TEST_F(RlLanguage, WhoHoldsMustNotLeaveTheUnitOut) {
  for (const char* lease : {"30s", "30000ms", "30000000us"}) {
    EXPECT_EQ(ask(std::string("RL.TAKE c CONCURRENCY 2 LEASE ") + lease).substr(0, 18),
              "[1, 2, 1, 0, 30000")
        << lease;
    ask("RL.RESET c");
  }
  for (const char* const line :
       {"RL.TAKE c CONCURRENCY 2 LEASE 30", "RL.POLICY SET p CONCURRENCY 2 LEASE 30",
        "RL.TAKE c 5/1h HOLD 30", "RL.MTAKE 1 c 5/1h HOLD 30",
        "RL.ACQUIRE c 5/1h TIMEOUT 10 HOLD 30"}) {
    EXPECT_THAT(ask(line), testing::HasSubstr(" must be an integer and a unit (us ms s m h d w)"))
        << line;
  }
}

TEST_F(RlLanguage, WhoWaitsMayLeaveTheUnitOut) {
  ask("RL.TAKE k 1/1s BURST 0");
  for (const char* wait : {"999", "999ms", "999999us", "0", "0s"}) {
    EXPECT_EQ(ask(std::string("RL.RESERVE k 1/1s BURST 0 MAXWAIT ") + wait), "[0, 1000, (nil)]");
    if (wait[0] == '0') continue;  // as a time-out it is for ever
    EXPECT_EQ(ask(std::string("RL.ACQUIRE k 1/1s BURST 0 TIMEOUT ") + wait),
              "[0, 1, 0, 1000, 1000, 0]");
  }
  EXPECT_EQ(ask("RL.RESERVE k 1/1s BURST 0 MAXWAIT 1s").substr(0, 8), "[1, 1000");
  EXPECT_EQ(ask("RL.ACQUIRE k 1/1s BURST 0 TIMEOUT 1minute ID x").substr(0, 1), "");
  server_->advance(2 * kSecond);
  EXPECT_EQ(heard(*client_), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlLanguage, PeriodsNeedAUnit) {
  EXPECT_EQ(ask("RL.TAKE k BURSTY 1/1s MAXBURST 5"),
            "(error ERR limit 0 (BURSTY): MAXBURST must be an integer and a unit (us ms s m h d "
            "w), got '5')");
  EXPECT_EQ(ask("RL.TAKE k WARMUP 1/1s OVER 5"),
            "(error ERR limit 0 (WARMUP): OVER must be an integer and a unit (us ms s m h d w), "
            "got '5')");
  EXPECT_EQ(ask("RL.TAKE k CONCURRENCY 1 LEASE 5x"),
            "(error ERR limit 0 (CONCURRENCY): LEASE must be an integer and a unit (us ms s m h d "
            "w), got '5x')");
  EXPECT_EQ(ask("RL.ACQUIRE k 1/1s TIMEOUT soon"),
            "(error ERR TIMEOUT must be an integer and a unit (us ms s m h d w), or milliseconds, "
            "at most 3650d, got 'soon')");
  EXPECT_EQ(ask("RL.RESERVE k 1/1s MAXWAIT -1").substr(0, 22), "(error ERR MAXWAIT mus");
  EXPECT_EQ(ask("RL.RESERVE k 1/1s MAXWAIT 3651d").substr(0, 22), "(error ERR MAXWAIT mus");
}

// --- policies among limits ---------------------------------------------------------------------

TEST_F(RlLanguage, APolicyStandsInAnyLimitsPlace) {
  ask("RL.POLICY SET p GCRA 10/1s FIXED 20/1m");
  EXPECT_EQ(ask("RL.TAKE k 5/1s POLICY p SLIDINGLOG 3/1s COST 1,2,4,1"), "[1, 3, 2, 0, 1000, 3]");
  EXPECT_EQ(ask("RL.PEEK k GCRA 5/1s COST 0"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("RL.PEEK k POLICY p COST 0"), "[1, 10, 8, 0, 200, 0]");
  EXPECT_EQ(ask("RL.PEEK k FIXED 20/1m COST 0"), "[1, 20, 16, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.TAKE c POLICY p CONCURRENCY 5 LEASE 30s"), "[1, 5, 4, 0, 30000, 2, 1]");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 5 LEASE 30s POLICY p"), "[1, 5, 3, 0, 30000, 0, 2]");
  EXPECT_EQ(ask("RL.ACQUIRE q POLICY p 1/1s TIMEOUT 0"), "[1, 1, 0, 0, 1000, 2]");
  ask("RL.POLICY SET r GCRA 10/1s");
  EXPECT_EQ(ask("RL.RESERVE b 1/1s BURST 0 POLICY r COST 1,9"), "[1, 0, 3]");
  EXPECT_EQ(ask("RL.RESERVE b 1/1s BURST 0 POLICY r COST 1,9 MAXWAIT 999"), "[0, 1000, (nil)]");
}

TEST_F(RlLanguage, APolicyTakesExactlyTheNextWord) {
  ask("RL.POLICY SET COST GCRA 10/1s");
  EXPECT_EQ(ask("RL.TAKE k POLICY COST COST 2"), "[1, 10, 8, 0, 200, 0]");
  EXPECT_EQ(ask("RL.TAKE k POLICY"), "(error ERR POLICY must be followed by a name)");
  EXPECT_EQ(ask("RL.TAKE k 1/1s POLICY"), "(error ERR POLICY must be followed by a name)");
  EXPECT_EQ(ask("RL.TAKE k POLICY COST 1/1s POLICY x"),
            "(error ERR syntax error at POLICY 'x': a key takes one policy, and 'COST' was named "
            "before)");
}

TEST_F(RlLanguage, SixteenLimitsAreTheMostWithAPolicys) {
  ask("RL.POLICY SET p 1/1s 2/1s 3/1s");
  std::string line = "RL.TAKE k POLICY p";
  for (int i = 0; i < 13; ++i) line += " " + std::to_string(i + 4) + "/1s";
  EXPECT_EQ(ask(line), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(ask(line + " 17/1s"),
            "(error ERR at most 16 limits, and with the 3 of policy 'p' there are 17)");
  for (int i = 0; i < 2; ++i) line += " 5/1h";
  EXPECT_EQ(ask(line + " 17/1s"), "(error ERR at most 16 limits)");
}

TEST_F(RlLanguage, AModeIsForThePolicysLimitsAlone) {
  ask("RL.POLICY SET p GCRA 10/1s");
  ask("RL.TAKE k FIXED 10/1m POLICY p COST 10");
  ask("RL.POLICY SET p GCRA 20/1s ONCHANGE RESET");
  EXPECT_EQ(ask("RL.TAKE k FIXED 12/1m POLICY p"), "[1, 12, 1, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.PEEK k GCRA 20/1s COST 0"), "[1, 20, 19, 0, 50, 0]");
}

TEST_F(RlLanguage, ADirectTakeDoesNotForgetThePolicy) {
  ask("RL.POLICY SET p FIXED 1/1m");
  EXPECT_EQ(ask("RL.TAKE k 9/1s POLICY p"), "[1, 1, 0, 0, 60000, 1]");
  EXPECT_EQ(ask("RL.TAKE k 9/1s POLICY p"), "[0, 1, 0, 60000, 60000, 1]");
  EXPECT_EQ(ask("RL.TAKE k 9/1s"), "[1, 9, 7, 0, 223, 0]");
}

// --- defaults, names ---------------------------------------------------------------------------

TEST_F(RlLanguage, CapacityOfGcraIsOneMoreThanItsBurst) {
  EXPECT_EQ(ask("RL.TAKE k 10/1s CAPACITY 3"), "[1, 3, 2, 0, 100, 0]");
  EXPECT_EQ(ask("RL.TAKE k 10/1s BURST 2"), "[1, 3, 1, 0, 200, 0]");
  EXPECT_EQ(ask("RL.TAKE k 10/1s BURST 2 CAPACITY 3"),
            "(error ERR limit 0 (GCRA): CAPACITY must be left out beside BURST: CAPACITY c is "
            "BURST c - 1, got '3')");
  EXPECT_EQ(ask("RL.TAKE k 10/1s CAPACITY 0"),
            "(error ERR limit 0 (GCRA): CAPACITY must be between 1 and 1000000000000, got '0')");
}

TEST_F(RlLanguage, WhatIsShownHasAllDefaults) {
  const auto shown = [&](const std::string& limits) {
    ask("RL.TAKE k " + limits);
    const std::string info = ask("RL.INFO k");
    ask("RL.RESET k");
    const size_t begin = info.find("parameters\", \"") + 14;
    const std::string text = info.substr(begin, info.find('"', begin) - begin);
    ask("RL.POLICY SET p " + limits);
    EXPECT_NE(ask("RL.POLICY GET p").find("\"" + text + "\""), std::string::npos) << text;
    return text;
  };
  EXPECT_EQ(shown("100/m"), "GCRA 100/1m BURST 99");
  EXPECT_EQ(shown("TOKENBUCKET 9/s"), "TOKENBUCKET 9/1s CAPACITY 9 INITIAL 9 REFILL GREEDY");
  EXPECT_EQ(shown("LEAKY 9/s"), "LEAKY 9/1s CAPACITY 9");
  EXPECT_EQ(shown("FIXED 9/s"), "FIXED 9/1s ALIGN FIRST");
  EXPECT_EQ(shown("FIXED 9 ALIGN DAY"), "FIXED 9 ALIGN DAY OFFSET +00:00");
  EXPECT_EQ(shown("SLIDINGWINDOW 9/s"), "SLIDINGWINDOW 9/1s BUCKETS 10");
  EXPECT_EQ(shown("BURSTY 9/s"), "BURSTY 9/1s MAXBURST 1s");
  EXPECT_EQ(shown("WARMUP 9/s OVER 3s"), "WARMUP 9/1s OVER 3s COLD 3");
}

TEST_F(RlLanguage, ANameIsNoPartOfTheLimit) {
  EXPECT_EQ(ask("RL.TAKE k 10/1s AS api FIXED 9/1m as per-minute COST 2"),
            "[1, 9, 7, 0, 60000, 1]");
  EXPECT_EQ(ask("RL.TAKE k 10/1s FIXED 9/1m AS other"), "[1, 9, 6, 0, 60000, 1]");
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 9, 6, 0, 60000, 1]");
}

TEST_F(RlLanguage, NamesAreOfAPolicyToo) {
  EXPECT_EQ(ask("RL.POLICY SET p 10/1s AS api FIXED 9/1m ONCHANGE RESET"), "OK");
  restart();
  EXPECT_EQ(ask("RL.POLICY GET p").substr(0, 66),
            "[\"limits\", \"GCRA 10/1s BURST 9 AS api FIXED 9/1m ALIGN FIRST\", \"on");
  EXPECT_EQ(ask("RL.TAKE k POLICY p 1/1h AS api"),
            "(error ERR limit 0 and limit 2 are both called 'api')");
  EXPECT_EQ(ask("RL.TAKE k 1/1h POLICY p").substr(0, 3), "[1,");
}

TEST_F(RlLanguage, NamesHaveRules) {
  const std::string long_name(33, 'x');
  EXPECT_EQ(ask("RL.TAKE k 1/1s AS " + long_name).substr(0, 37),
            "(error ERR limit 0 (GCRA): AS must be");
  EXPECT_EQ(
      ask("RL.TAKE k 1/1s AS"),
      "(error ERR limit 0 (GCRA): AS must be followed by a name of 1 to 32 letters, digits, _ "
      ". or -, got 'nothing')");
  EXPECT_EQ(
      ask("RL.TAKE k 1/1s AS a/b"),
      "(error ERR limit 0 (GCRA): AS must be followed by a name of 1 to 32 letters, digits, _ "
      ". or -, got 'a/b')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s AS a BURST 3"),
            "(error ERR limit 0 (GCRA): AS must be the last option of its limit, and given once, "
            "got 'BURST' after AS 'a')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s AS a 2/1s AS a"),
            "(error ERR limit 0 and limit 1 are both called 'a')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s 2/1s AS gcra0"),
            "(error ERR limit 0 and limit 1 are both called 'gcra0')");
  EXPECT_EQ(ask("RL.POLICY SET p 1/1s AS a 2/1s AS a"),
            "(error ERR limit 0 and limit 1 are both called 'a')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s AS " + long_name.substr(1)), "[1, 1, 0, 0, 1000, 0]");
}

// --- errors and help ---------------------------------------------------------------------------

TEST_F(RlLanguage, ErrorsSayWhereAWordBelongs) {
  const auto ends = [&](const std::string& line, const std::string& end) {
    const std::string reply = ask(line);
    const std::string tail = end + ")";
    EXPECT_TRUE(reply.size() > tail.size() &&
                reply.compare(reply.size() - tail.size(), tail.size(), tail) == 0)
        << line << "\n"
        << reply;
  };
  ends("RL.ACQUIRE k GCRA 1/1s", "TIMEOUT must be given: 10s or 10000, 0 waits for ever");
  ends("RL.ACQUIRE k 1/1s", "TIMEOUT must be given: 10s or 10000, 0 waits for ever");
  ends("RL.TAKE k GCRA 1/1s TIMEOUT 100", "; RL.ACQUIRE waits, and takes TIMEOUT");
  ends("RL.TAKE k GCRA 1/1s MAXWAIT 100", "; RL.RESERVE books ahead, and takes MAXWAIT");
  ends("RL.ACQUIRE k 1/1s UPTO", "; RL.TAKE and RL.MTAKE take UPTO");
  ends("RL.TAKE k EACH 1/1s", "; RL.MTAKE takes EACH, after its keys");
  ends("RL.TAKE k POLICY api AS x",
       "; AS names one limit, as its last option; those of a policy are named in the policy");
  ends("RL.TAKE k FIXED 1/1s CAPACITY 2", "; CAPACITY is an option of GCRA, TOKENBUCKET or LEAKY");
  ends("RL.TAKE k 1/1s COST 2 BURST 2",
       "; BURST is an option of GCRA, and options of limits come right after their limit");
  ends("RL.TAKE k 1/1s COST 2 FIXED 1/1s", "; limits come before the options");
  ends("RL.TAKE k COST 2 POLICY api", "or POLICY with a name");
  ends("RL.TAKE k 100", "; a rate has a period: 100/1m or 100 PER minute");
  ends("RL.TAKE k 10/1s WAIT 5", "; RL.ACQUIRE waits, and takes TIMEOUT");
  ends("RL.TAKE k 10/1s TOKENS 5", "; COST says how many permits a request takes");
  ends("RL.TAKE k 10/1s cost=5", "; a value is a word of its own: COST 5");
  ends("RL.TAKE k TOKEN_BUCKET 10/1s", "; did you mean TOKENBUCKET?");
  ends("RL.TAKE k leaky-bucket 10/1s", "; did you mean LEAKY?");
  ends("RL.TAKE k FixedWindow 10/1s", "; did you mean FIXED?");
  ends("RL.TAKE k SLIDING 10/1s", "; did you mean SLIDINGWINDOW, SLIDINGCOUNTER or SLIDINGLOG?");
  ends("RL.GET k", "; RL.HELP lists the commands of limiters");
  ends("RL.MTAKE 3 k1 k2 GCRA 1/1s GCRA 2/1s",
       "RL.MTAKE takes one limit for each key: 3 keys, 2 limits; numkeys is 3, so 'GCRA' is key 2");
  ends("RL.MTAKE 3 k1 k2 GCRA x GCRA 2/1s", "; numkeys is 3, so 'GCRA' is key 2");
  ends("RL.POLICY SET p GCRA 1/1s ONCHANGE KEEP",
       "ERR ONCHANGE must be USED, RESET, ASIS, PROPORTIONAL or ADDITIVE, got 'KEEP'");
  ends("RL.POLICY SET p 1/1s POLICY q", "; a policy names no other");
  ends("RL.POLICY SET p GCRA", "rate must be count/period, for example 100/1m, got 'nothing'");
  ends("RL.TAKE k",
       "; usage: RL.TAKE key limits [COST n] [UPTO] [SHADOW] [FORCE] [ID token] "
       "[HOLD duration] [FULL] [HEADERS] [LEGACY] [PROBLEM] [PARTITION] [ONCHANGE mode] "
       "[TRACEPARENT traceparent]");
  ends("RL.POLICY SET p",
       "; usage: RL.POLICY SET name <count/period | algorithm | UNLIMITED | BLOCKED> [rate] "
       "[option value ...] [limit ...] [SHADOW | PERCENT percent] [ONCHANGE <USED | RESET | ASIS | "
       "PROPORTIONAL | ADDITIVE>]");
}

TEST_F(RlLanguage, HelpListsTheCommandsAndTheLanguage) {
  const std::string help = ask("RL.HELP");
  for (const char* part : {"count/period", "POLICY name", "GCRA count/period [BURST n]",
                           "CONCURRENCY count LEASE duration", "RL.TAKE key limits [COST n]",
                           "RL.POLICY SET name <count/period", "RL.MTAKE numkeys key [key ...]"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
  EXPECT_NE(ask("COMMAND DOCS RL.TAKE").find("\"count/period\""), std::string::npos);
}

}  // namespace
}  // namespace weir::server
