// Policies, and the dialects of other programs.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlPolicy : public LimiterTest {};

TEST_F(RlPolicy, PoliciesAreBoundedInNumber) {
  (*server_)->config().policies_max = 2;
  EXPECT_EQ(ask("RL.POLICY SET a GCRA 5/1s"), "OK");
  EXPECT_EQ(ask("RL.POLICY SET b GCRA 5/1s"), "OK");
  EXPECT_EQ(ask("RL.POLICY SET c GCRA 5/1s"),
            "(error ERR there would be 3 policies, and policies-max is 2)");
  EXPECT_EQ(ask("RL.POLICY SET a GCRA 6/1s"), "OK");
  EXPECT_EQ(ask("RL.POLICY DEL b"), "1");
  EXPECT_EQ(ask("RL.POLICY SET c GCRA 5/1s"), "OK");
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"a\", \"c\"]");
}

TEST_F(RlPolicy, AreKeptOverFlushAndRestart) {
  EXPECT_EQ(ask("RL.POLICY SET free GCRA 5/1s FIXED 9 ALIGN DAY ONCHANGE additive"), "OK");
  EXPECT_EQ(ask("RL.POLICY SET paid GCRA 50/1s"), "OK");
  EXPECT_EQ(ask("FLUSHALL"), "OK");
  restart();
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"free\", \"paid\"]");
  EXPECT_EQ(ask("RL.POLICY GET free"),
            "[\"limits\", \"GCRA 5/1s BURST 4 FIXED 9 ALIGN DAY OFFSET +00:00\", \"onchange\", "
            "\"ADDITIVE\", \"version\", 1]");
  EXPECT_EQ(ask("RL.POLICY DEL free"), "1");
  EXPECT_EQ(ask("RL.POLICY DEL free"), "0");
  EXPECT_EQ(ask("RL.POLICY GET free"), "(nil)");
  EXPECT_EQ(ask("RL.TAKE k POLICY free"),
            "(error ERR no policy is named 'free'; RL.POLICY SET makes one)");
}

TEST_F(RlPolicy, ChangeWhileRunning) {
  ask("RL.POLICY SET p GCRA 10/1s");
  EXPECT_EQ(ask("RL.TAKE k POLICY p COST 4"), "[1, 10, 6, 0, 400, 0]");
  ask("RL.POLICY SET p GCRA 20/1s");
  EXPECT_EQ(ask("RL.TAKE k POLICY p COST 0"), "[1, 20, 16, 0, 200, 0]");
}

TEST_F(RlPolicy, CarryOverByTheirMode) {
  struct Case {
    const char* mode;
    const char* reply;
  };
  for (const Case& each :
       {Case{"RESET", "[1, 20, 20, 0, 0, 0]"}, Case{"ASIS", "[1, 20, 6, 0, 700, 0]"},
        Case{"PROPORTIONAL", "[1, 20, 12, 0, 400, 0]"}, Case{"ADDITIVE", "[1, 20, 16, 0, 200, 0]"},
        Case{"USED", "[1, 20, 16, 0, 200, 0]"}}) {
    ask("RL.RESET k");
    ask("RL.POLICY SET p GCRA 10/1s");
    ask("RL.TAKE k POLICY p COST 4");
    ask(std::string("RL.POLICY SET p GCRA 20/1s ONCHANGE ") + each.mode);
    EXPECT_EQ(ask("RL.TAKE k POLICY p COST 0"), each.reply) << each.mode;
  }
}

TEST_F(RlPolicy, AModeIsAppliedOncePerVersion) {
  ask("RL.POLICY SET p GCRA 10/1s ONCHANGE RESET");
  ask("RL.TAKE k GCRA 20/1s COST 20");
  EXPECT_EQ(ask("RL.TAKE k POLICY p COST 10"), "[1, 10, 0, 0, 1000, 0]");  // anew, once
  ask("RL.TAKE k GCRA 20/1s");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 10), "[0, 10, -1");  // no way to reset at will
}

// A customer who has used up a small plan and buys a large one; and back.
TEST_F(RlPolicy, AnUpgradeMakesTheDifferenceAvailableADowngradeOwesIt) {
  for (const char* pro : {"GCRA 1000/1m", "POLICY pro"}) {
    ask("RL.RESET k");
    ask("RL.POLICY SET pro GCRA 1000/1m");
    ask("RL.TAKE k GCRA 10/1m COST 10");
    EXPECT_EQ(ask(std::string("RL.TAKE k ") + pro + " COST 90"), "[1, 1000, 900, 0, 6000, 0]");
    EXPECT_EQ(ask("RL.TAKE k GCRA 10/1m"), "[0, 10, -90, 546000, 600000, 0]");
    EXPECT_EQ(ask(std::string("RL.TAKE k ") + pro + " COST 0"), "[1, 1000, 900, 0, 6000, 0]");
  }
}

TEST_F(RlPolicy, InlineLimitsSayWhatSurvives) {
  for (const auto& [mode, left] : {std::pair{"", 16},
                                   {" ONCHANGE USED", 16},
                                   {" ONCHANGE RESET", 20},
                                   {" onchange asis", 6},
                                   {" ONCHANGE PROPORTIONAL", 12},
                                   {" ONCHANGE ADDITIVE", 16}}) {
    ask("RL.RESET k");
    ask("RL.TAKE k GCRA 10/1s COST 4");
    const std::string shown = "[1, 20, " + std::to_string(left) + ", ";
    EXPECT_EQ(ask(std::string("RL.PEEK k GCRA 20/1s COST 0") + mode).substr(0, shown.size()),
              shown);
    EXPECT_EQ(ask(std::string("RL.TAKE k GCRA 20/1s COST 0") + mode).substr(0, shown.size()),
              shown);
  }
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s ONCHANGE KEEP"),
            "(error ERR ONCHANGE must be USED, RESET, ASIS, PROPORTIONAL or ADDITIVE, got 'KEEP')");
  EXPECT_EQ(ask("RL.TAKE k POLICY p ONCHANGE RESET"),
            "(error ERR syntax error: a policy's ONCHANGE is set by RL.POLICY SET)");
}

TEST_F(RlPolicy, RefusesWhatItCannotKeep) {
  EXPECT_EQ(
      ask("RL.POLICY SET p"),
      "(error ERR wrong number of arguments for 'rl.policy|set' command; usage: RL.POLICY SET "
      "name <count/period | algorithm | UNLIMITED | BLOCKED> [rate] [option value ...] [limit ...] "
      "[SHADOW | PERCENT percent] [ONCHANGE <USED | RESET | ASIS | PROPORTIONAL | ADDITIVE>])");
  EXPECT_EQ(ask("RL.POLICY SET p GCRA 5/1s ONCHANGE SOON"),
            "(error ERR ONCHANGE must be USED, RESET, ASIS, PROPORTIONAL or ADDITIVE, got 'SOON')");
  EXPECT_EQ(ask("RL.POLICY SET p GCRA 0/1s"),
            "(error ERR limit 0 (GCRA): count must be at least 1, got '0')");
}

class Dialects : public LimiterTest {};

TEST_F(Dialects, Gcra) {
  EXPECT_EQ(ask("GCRA g 4 1 10"), "[0, 5, 4, -1, 10]");
  EXPECT_EQ(ask("GCRA g 4 1 10 TOKENS 4"), "[0, 5, 0, -1, 50]");
  EXPECT_EQ(ask("GCRA g 4 1 10"), "[1, 5, 0, 10, 50]");
  EXPECT_EQ(ask("GCRA n 4 1 10 NUM_REQUESTS 4"), "[0, 5, 1, -1, 40]");
  EXPECT_EQ(ask("GCRA g 4 1 10 TOKENS 6"), "[1, 5, 0, -1, 50]");
  EXPECT_EQ(ask("CL.THROTTLE g 4 1 10 0"), "[0, 5, 0, -1, 50]");  // one limiter for all dialects
  EXPECT_EQ(ask("GCRA h 0 2 0.5"), "[0, 1, 0, -1, 1]");
  const char* const errors[][2] = {
      {"GCRA g x 1 1", "value is not an integer or out of range"},
      {"GCRA g -1 1 1", "value is out of range, must be positive"},
      {"GCRA g 1 0 1", "value is out of range, must be positive"},
      {"GCRA g 1 1 x", "value is not a valid float"},
      {"GCRA g 1 1 0", "period must be > 0 and < 1e12"},
      {"GCRA g 1 1 1e12", "period must be > 0 and < 1e12"},
      {"GCRA g 1 1 1 TOKENS", "Missing TOKENS value"},
      {"GCRA g 1 1 1 num_requests", "Missing NUM_REQUESTS value"},
      {"GCRA g 1 1 1 TOKENS 0", "value is out of range, must be positive"},
      {"GCRA g 1 1 1 NOPE 1", "syntax error"},
      {"GCRA g 1 1 9e11", "overflow: period must be between 0.000001 and 315360000"},
      {"GCRA g 9999999999999 1 1", "overflow: max_burst must be at most 999999999999"},
  };
  for (const auto& [line, error] : errors) {
    EXPECT_EQ(ask(line), "(error ERR " + std::string(error) + ")") << line;
  }
}

TEST_F(Dialects, ThrottleDoesNotTouchOtherLimitsOfTheKey) {
  ask("RL.TAKE k GCRA 5/10s FIXED 3/1m");
  EXPECT_EQ(ask("CL.THROTTLE k 4 5 10"), "[0, 5, 3, -1, 4]");
  EXPECT_EQ(ask("RL.PEEK k FIXED 3/1m COST 0"), "[1, 3, 2, 0, 60000, 0]");
}

TEST_F(Dialects, ANegativeQuantityGivesBack) {
  EXPECT_EQ(ask("CL.THROTTLE g 4 1 10 4"), "[0, 5, 1, -1, 40]");
  EXPECT_EQ(ask("CL.THROTTLE g 4 1 10 -1"), "[0, 5, 2, -1, 30]");
  EXPECT_EQ(ask("CL.THROTTLE g 4 1 10 0"), "[0, 5, 2, -1, 30]");
  EXPECT_EQ(ask("CL.THROTTLE g 9 1 10 -1"), "[0, 10, 8, -1, 20]") << "under other parameters";
  EXPECT_EQ(ask("CL.THROTTLE g 9 1 10 -9223372036854775808"), "[0, 10, 10, -1, 0]");
  EXPECT_EQ(ask("EXISTS g"), "0");
  EXPECT_EQ(ask("CL.THROTTLE n 4 1 10 -3"), "[0, 5, 5, -1, 0]");
  EXPECT_EQ(ask("EXISTS n"), "0");
  ask("RL.TAKE k GCRA 1/10s BURST 4 FIXED 3/1m COST 2");
  EXPECT_EQ(ask("CL.THROTTLE k 4 1 10 -1"), "[0, 5, 4, -1, 10]");
  EXPECT_EQ(ask("RL.PEEK k FIXED 3/1m COST 0"), "[1, 3, 1, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.TOP TAKEN"), "[[\"g\", 4, 0], [\"k\", 2, 0]]");
}

TEST_F(Dialects, IncrexCounts) {
  EXPECT_EQ(ask("INCREX k BYINT 1 UBOUND 2 EX 60 ENX"), "[1, 1]");
  server_->advance(10 * kSecond);
  EXPECT_EQ(ask("INCREX k BYINT 1 UBOUND 2 EX 60 ENX"), "[2, 1]");
  EXPECT_EQ(ask("PTTL k"), "50000");
  EXPECT_EQ(ask("INCREX k BYINT 1 UBOUND 2 EX 60 ENX"), "[2, 0]");
  EXPECT_EQ(ask("INCREX k BYINT 5 UBOUND 4 SATURATE"), "[4, 2]");
  EXPECT_EQ(ask("INCREX k BYINT 1 UBOUND 2 SATURATE"), "[2, -2]");  // against its sign
  EXPECT_EQ(ask("INCREX k BYINT -9 LBOUND 0"), "[2, 0]");
  EXPECT_EQ(ask("INCREX k PERSIST"), "[3, 1]");
  EXPECT_EQ(ask("PTTL k"), "-1");
  EXPECT_EQ(ask("INCREX k PXAT 1"), "[4, 1]");
  EXPECT_EQ(ask("EXISTS k"), "0");
  EXPECT_EQ(ask("INCREX k UBOUND 0"), "[0, 0]");
  EXPECT_EQ(ask("EXISTS k"), "0");
  EXPECT_EQ(ask("INCREX k XX"), "[0, 0]");
  EXPECT_EQ(ask("INCREX k NX"), "[1, 1]");
  EXPECT_EQ(ask("INCREX k NX"), "[1, 0]");
  EXPECT_EQ(ask("INCREX k BYINT 9223372036854775807"), "[1, 0]");
  EXPECT_EQ(ask("INCREX k BYINT 9223372036854775807 SATURATE"),
            "[9223372036854775807, 9223372036854775806]");
}

TEST_F(Dialects, IncrexAddsFloats) {
  EXPECT_EQ(ask("INCREX k BYFLOAT 0.5"), "[\"0.5\", \"0.5\"]");
  EXPECT_EQ(ask("INCREX k BYFLOAT 9 UBOUND 2.5 SATURATE"), "[\"2.5\", \"2\"]");
  ask("HELLO 3");
  EXPECT_EQ(ask("INCREX k BYFLOAT -1 LBOUND -inf"), "[1.5, -1]");
}

// More digits than a double has, and numbers that are too large for one.
TEST_F(Dialects, IncrexAnswersWhatItStores) {
  for (const char* const protocol : {"2", "3"}) {
    ask(std::string("HELLO ") + protocol);
    for (const char* const line :
         {"INCREX k BYFLOAT 0.1", "INCREX k BYFLOAT 9007199254740993", "INCREX k BYFLOAT 1e400"}) {
      std::string wire = client_->send(words_as_request(line));
      const std::string stored = ask("GET k");
      const std::string text = stored.substr(1, stored.size() - 2);
      EXPECT_NE(wire.find((*protocol == '3' ? "," : "\r\n") + text + "\r\n"), wire.npos)
          << line << ": " << wire << " is stored as " << text;
    }
  }
}

TEST_F(Dialects, IncrexErrors) {
  ask("SET s hello");
  const char* const errors[][2] = {
      {"INCREX", "wrong number of arguments for 'increx' command"},
      {"INCREX k NOPE", "syntax error"},
      {"INCREX k BYINT", "syntax error"},
      {"INCREX k BYINT 1 BYINT 1", "syntax error"},
      {"INCREX k BYINT 1 BYFLOAT 1", "syntax error"},
      {"INCREX k EX 1 PX 1", "syntax error"},
      {"INCREX k PERSIST EX 1", "syntax error"},
      {"INCREX k PERSIST ENX", "syntax error"},
      {"INCREX k ENX", "ENX flag requires an expiration"},
      {"INCREX k BYINT 1.5", "Increment is not an integer or out of range"},
      {"INCREX k BYFLOAT x", "Increment is not a valid float"},
      {"INCREX k BYFLOAT inf", "BYFLOAT increment cannot be Infinity"},
      {"INCREX k LBOUND x", "LBOUND is not an integer or out of range"},
      {"INCREX k UBOUND 1.5", "UBOUND is not an integer or out of range"},
      {"INCREX k BYFLOAT 1 UBOUND x", "UBOUND is not a valid float"},
      {"INCREX k LBOUND 2 UBOUND 1", "LBOUND can't be greater than UBOUND"},
      {"INCREX k EX 0", "invalid expire time in 'increx' command"},
      {"INCREX s", "value is not an integer or out of range"},
      {"INCREX s BYFLOAT 1", "value is not a valid float"},
  };
  for (const auto& [line, error] : errors) {
    EXPECT_EQ(ask(line), "(error ERR " + std::string(error) + ")") << line;
  }
  ask("SET m -9223372036854775808");
  EXPECT_EQ(ask("INCREX m BYINT 1 LBOUND 9000000000000000000 SATURATE"),
            "(error ERR applied increment would overflow)");
}

}  // namespace
}  // namespace weir::server
