// RL.TAKE, PEEK, MTAKE: the rules of requests. What verdicts say is tests/algorithms' business.
#include <gmock/gmock.h>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlTake : public LimiterTest {};

TEST_F(RlTake, AnswersSixIntegers) {
  EXPECT_EQ(ask("RL.TAKE user:42 GCRA 100/1m BURST 20"), "[1, 21, 20, 0, 600, 0]");
  EXPECT_EQ(ask("TYPE user:42"), "limiter");
  EXPECT_EQ(ask("PTTL user:42"), "600");
}

TEST_F(RlTake, NamesTheDecidingLimit) {
  // Allowed: the least remaining. Denied: the longest wait.
  EXPECT_EQ(ask("RL.TAKE k FIXED 10/1m SLIDINGLOG 2/1s"), "[1, 2, 1, 0, 1000, 1]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 10/1m SLIDINGLOG 2/1s"), "[1, 2, 0, 0, 1000, 1]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 10/1m SLIDINGLOG 2/1s"), "[0, 2, 0, 1000, 1000, 1]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 10/1m SLIDINGLOG 2/1s COST 9,1"), "[0, 10, 8, 60000, 60000, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 10/1m SLIDINGLOG 2/1s COST 11,9"), "[0, 10, 8, -1, 60000, 0]");
}

TEST_F(RlTake, ChargesAllOrNothing) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s FIXED 1/1m"), "[1, 1, 0, 0, 60000, 1]");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s FIXED 1/1m"), "[0, 1, 0, 60000, 60000, 1]");
  }
  EXPECT_EQ(ask("RL.PEEK k GCRA 5/1s COST 0"), "[1, 5, 4, 0, 200, 0]");
}

TEST_F(RlTake, ACostBeyondCapacityMakesNoKey) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST 6"), "[0, 5, 5, -1, 0, 0]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST 0"), "[1, 5, 5, 0, 0, 0]");
  EXPECT_EQ(ask("EXISTS k"), "0");
}

TEST_F(RlTake, PeekWritesNothing) {
  EXPECT_EQ(ask("RL.PEEK k"), "(nil)");
  EXPECT_EQ(ask("RL.PEEK k GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("EXISTS k"), "0");
  ask("RL.TAKE k GCRA 5/1s COST 2");
  EXPECT_EQ(ask("RL.PEEK k"), "[1, 5, 2, 0, 600, 0]");
  EXPECT_EQ(ask("RL.PEEK k COST 4"), "[0, 5, 3, 200, 400, 0]");
  EXPECT_EQ(ask("RL.PEEK k FIXED 7/1m"), "[1, 7, 6, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 5, 3, 0, 400, 0]");
}

TEST_F(RlTake, UptoTakesWhatThereIs) {
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 10/1s COST 4 UPTO"), "[1, 10, 6, 0, 400, 0, 4]");
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 10/1s COST 9 UPTO"), "[1, 10, 0, 0, 1000, 0, 6]");
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 10/1s COST 9 UPTO"), "[0, 10, 0, 100, 1000, 0, 0]");
  EXPECT_EQ(ask("RL.TAKE m FIXED 5/1m GCRA 3/1s COST 100 UPTO"), "[1, 3, 0, 0, 1000, 1, 3]");
}

// Whoever looks is told of it, until it is paid.
TEST_F(RlTake, ADebtIsShownByAllWhoShowWhatIsLeft) {
  ask("RL.TAKE k GCRA 1/1s BURST 1 COST 5 FORCE");
  ask("RL.TAKE k GCRA 1/1s BURST 1 FIXED 10/1h COST 0");
  const std::string limits = "GCRA 1/1s BURST 1 FIXED 10/1h";
  EXPECT_EQ(ask("RL.PEEK k " + limits), "[0, 2, -3, 4000, 5000, 0]");
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 2, -3, 0, 5000, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + limits), "[0, 2, -3, 4000, 5000, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + limits + " COST 1 UPTO").substr(0, 9), "[0, 2, -3");
  EXPECT_THAT(
      ask("RL.TAKE k " + limits + " HEADERS"),
      testing::AllOf(testing::HasSubstr("\"remaining\", -3, "), testing::HasSubstr(";r=0;t=4, ")));
  EXPECT_THAT(ask("RL.INFO k"), testing::HasSubstr("\"remaining\", -3, "));
  EXPECT_EQ(ask("CL.THROTTLE one 1 1 1 1"), "[0, 2, 1, -1, 1]");
  ask("RL.TAKE one GCRA 1/1s BURST 1 COST 5 FORCE");
  EXPECT_EQ(ask("CL.THROTTLE one 1 1 1 1"), "[1, 2, 0, 5, 6]") << "that dialect knows none";
  EXPECT_EQ(ask("RL.TAKE one GCRA 1/1s BURST 1"), "[0, 2, -4, 5000, 6000, 0]") << "one limit alone";
  EXPECT_EQ(ask("RL.REFUND k 2"), "[1, 2, -1, 0, 3000, 0]");
  server_->advance(3 * kSecond);
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 2, 2, 0, 0, 0]");
}

TEST_F(RlTake, ShadowOnlyForcesTheFirstField) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s SHADOW"), "[1, 1, 0, 0, 1000, -1]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s SHADOW"), "[1, 1, 0, 1000, 1000, 0]");
  EXPECT_EQ(ask("RL.PEEK k"), "[0, 1, 0, 1000, 1000, 0]");
}

TEST_F(RlTake, ForceTakesIntoDebt) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s BURST 1 COST 5 FORCE"), "[1, 2, -3, 0, 5000, 0]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s BURST 1"), "[0, 2, -3, 4000, 5000, 0]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s BURST 1 FORCE"), "[1, 2, -4, 0, 6000, 0]");
}

TEST_F(RlTake, ForceTakesFromEveryAlgorithm) {
  EXPECT_EQ(ask("RL.TAKE f FIXED 10/1m COST 13 FORCE"), "[1, 10, -3, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.TAKE f FIXED 10/1m"), "[0, 10, -3, 60000, 60000, 0]");
  EXPECT_EQ(ask("RL.REFUND f 4"), "[1, 10, 1, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.TAKE s SLIDINGLOG 5/1m COST 8 FORCE"), "[1, 5, -3, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.TAKE w SLIDINGWINDOW 20/5s BUCKETS 10 PERBUCKET 4 COST 5 FORCE").substr(0, 10),
            "[1, 4, -1,");
  EXPECT_EQ(ask("RL.TAKE n SLIDINGCOUNTER 5/1m COST 6 FORCE").substr(0, 10), "[1, 5, -1,");
  EXPECT_EQ(ask("RL.TAKE l LEAKY 1/1s CAPACITY 2 COST 5 FORCE"), "[1, 2, -3, 0, 5000, 0]");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 1 LEASE 1m COST 2 FORCE"), "[1, 1, -1, 0, 60000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 1 LEASE 1m"), "[0, 1, -1, 60000, 60000, 0]");
  EXPECT_EQ(ask("RL.RELEASE c 1"), "2");
  EXPECT_EQ(ask("RL.TAKE b BURSTY 1/1s COST 3 FORCE"), "[1, 1, -3, 0, 4000, 0]");
  EXPECT_EQ(ask("RL.TAKE u WARMUP 1/1s OVER 2s FORCE").substr(0, 8), "[1, 2, -");
}

TEST_F(RlTake, TheLargestDebtIsAnswered) {
  EXPECT_EQ(ask("RL.TAKE k FIXED 5/1m FIXED 2/1h COST 7 FORCE"), "[1, 2, -5, 0, 3600000, 1]");
  EXPECT_EQ(ask("RL.TAKE m FIXED 2/1h FIXED 5/1m COST 1,9 FORCE"), "[1, 5, -4, 0, 60000, 1]");
}

TEST_F(RlTake, OneCostPerLimit) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 9/1s FIXED 9/1s COST 2,5"), "[1, 9, 4, 0, 1000, 1]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 9/1s FIXED 9/1s COST 1,2,3"),
            "(error ERR COST must be one number, or one for each of the 2 limits, got 3)");
}

TEST_F(RlTake, AConcurrencyLimitLends) {
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s"), "[1, 2, 1, 0, 30000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s COST 0"), "[1, 2, 1, 0, 30000, 0, (nil)]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s"), "[1, 2, 0, 0, 30000, 0, 2]");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s"), "[0, 2, 0, 29000, 30000, 0]");
  EXPECT_EQ(ask("RL.RENEW c 1"), "1");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s"), "[0, 2, 0, 30000, 30000, 0]");
  EXPECT_EQ(ask("RL.RELEASE c 1"), "1");
  EXPECT_EQ(ask("RL.RELEASE c 1"), "0");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s"), "[1, 2, 0, 0, 30000, 0, 3]");
}

TEST_F(RlTake, LeaseIdsAreNeverUsedAgain) {
  ask("RL.TAKE c CONCURRENCY 9 LEASE 30s");
  restart();
  const std::string reply = ask("RL.TAKE c CONCURRENCY 9 LEASE 30s");
  EXPECT_NE(reply, "[1, 9, 7, 0, 30000, 0, 1]");
  EXPECT_EQ(reply.substr(0, 22), "[1, 9, 7, 0, 30000, 0,");
}

TEST_F(RlTake, AnIdIsTakenOnce) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s ID a"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s ID a"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_NE(ask("INFO limiter").find("repeated_ids:1"), std::string::npos);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST 2 ID a"), "(error ERR ID was used with other arguments)");
  EXPECT_EQ(ask("RL.TAKE other GCRA 5/1s COST 2 ID a"), "[1, 5, 3, 0, 400, 0]");
  EXPECT_EQ(ask("DEL k"), "1");
  restart(59 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s ID a"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("EXISTS k"), "0");
  server_->advance(2 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s ID a"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("EXISTS k"), "1");
}

TEST_F(RlTake, ADenialIsNotRemembered) {
  ask("RL.TAKE k GCRA 1/1s");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s ID a"), "[0, 1, 0, 1000, 1000, 0]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s ID a"), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlTake, ALeaseIsRememberedInBothProtocols) {
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s COST 0 ID z"),
            "[1, 2, 2, 0, 0, 0, (nil)]");  // not granted, so not remembered
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s ID a"), "[1, 2, 1, 0, 30000, 0, 1]");
  ask("HELLO 3");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s ID a"), "[1, 2, 1, 0, 30000, 0, 1]");
}

TEST_F(RlTake, OtherParametersCarryOverWhatWasUsed) {
  ask("RL.TAKE k GCRA 10/1s COST 8");
  EXPECT_EQ(ask("RL.PEEK k GCRA 100/1s COST 0"), "[1, 100, 92, 0, 80, 0]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 100/1s COST 93"), "[0, 100, 92, 10, 80, 0]");  // kept from now on
  EXPECT_EQ(ask("RL.PEEK k COST 0"), "[1, 100, 92, 0, 80, 0]");
  ask("RL.TAKE f FIXED 100/1m COST 90");
  EXPECT_EQ(ask("RL.TAKE f FIXED 1000/1m COST 0"), "[1, 1000, 910, 0, 60000, 0]");
}

TEST_F(RlTake, ALimitNoLongerNamedStaysUntilFull) {
  ask("RL.TAKE k FIXED 5/1m COST 5");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 5/1m"), "[0, 5, 0, 60000, 60000, 0]");
  EXPECT_EQ(ask("PTTL k"), "60000");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s"), "[1, 5, 3, 0, 400, 0]");
  server_->advance(60 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("PTTL k"), "200");
}

TEST_F(RlTake, EqualLimitsInOtherWordsAreOne) {
  ask("RL.TAKE k GCRA 30/60s BURST 4 COST 3");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/2s BURST 4"), "[1, 5, 1, 0, 8000, 0]");
}

TEST_F(RlTake, RefusesWhatIsNoLimiter) {
  ask("SET s hello");
  for (const char* line : {"RL.TAKE s GCRA 5/1s", "RL.PEEK s", "RL.REFUND s 1", "RL.RESET s",
                           "RL.INFO s", "RL.ACQUIRE s GCRA 5/1s TIMEOUT 0", "RL.RELEASE s 1",
                           "RL.CANCEL s 1", "RL.MTAKE 1 s GCRA 5/1s", "CL.THROTTLE s 1 1 1"}) {
    EXPECT_EQ(ask(line),
              "(error WRONGTYPE Operation against a key holding the wrong kind of value)")
        << line;
  }
  ask("RL.TAKE k GCRA 5/1s");
  EXPECT_EQ(ask("GET k"),
            "(error WRONGTYPE Operation against a key holding the wrong kind of value)");
}

TEST_F(RlTake, SyntaxErrorsNameTheWord) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s BUCKETS 3"),
            "(error ERR syntax error at 'BUCKETS': expected an option of GCRA (BURST, CAPACITY, "
            "ADAPTIVE, BAN or "
            "AS), another limit, or COST, UPTO, SHADOW, FORCE, ID, HOLD, FULL, HEADERS, LEGACY, "
            "PROBLEM, PARTITION, ONCHANGE or TRACEPARENT; BUCKETS is an "
            "option of SLIDINGWINDOW)");
  EXPECT_EQ(
      ask("RL.TAKE k GCRA 5/1s COST 1 GCRA 5/1s"),
      "(error ERR syntax error at 'GCRA': expected COST, UPTO, SHADOW, FORCE, ID, HOLD, FULL, "
      "HEADERS, LEGACY, PROBLEM, PARTITION, ONCHANGE or TRACEPARENT; limits come before the "
      "options)");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST 1 COST 2"),
            "(error ERR syntax error: COST is given twice)");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST"),
            "(error ERR syntax error: COST must be followed by a value)");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST -1"),
            "(error ERR COST must be an integer between 0 and 1000000000000, or one for each limit "
            "with commas between, got '-1')");
  EXPECT_EQ(
      ask("RL.TAKE k HOURLY 5"),
      "(error ERR syntax error at 'HOURLY': a limit must come here: a rate such as 100/1m, GCRA, "
      "TOKENBUCKET, LEAKY, FIXED, SLIDINGLOG, SLIDINGWINDOW, SLIDINGCOUNTER, BURSTY, WARMUP or "
      "CONCURRENCY with its rate, or POLICY with a name)");
  EXPECT_EQ(ask("RL.ACQUIRE k GCRA 5/1s COST 1"),
            "(error ERR TIMEOUT must be given: 10s or 10000, 0 waits for ever)");
}

TEST_F(RlTake, ManyKeysAllOrNothing) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b GCRA 1/1s FIXED 5/1m"),
            "[1, -1, [1, 1, 0, 0, 1000, 0], [1, 5, 4, 0, 60000, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b GCRA 1/1s FIXED 5/1m"),
            "[0, 0, [0, 1, 0, 1000, 1000, 0], [1, 5, 4, 0, 60000, 0]]");
  EXPECT_EQ(ask("RL.PEEK b COST 0"), "[1, 5, 4, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b GCRA 1/1s FIXED 5/1m SHADOW"),
            "[1, 0, [1, 1, 0, 1000, 1000, 0], [1, 5, 4, 0, 60000, -1]]");
  EXPECT_EQ(ask("RL.PEEK b COST 0"), "[1, 5, 4, 0, 60000, 0]");
}

TEST_F(RlTake, ManyKeysRefusals) {
  EXPECT_EQ(ask("RL.MTAKE 2 a a GCRA 1/1s FIXED 5/1m"),
            "(error ERR key 0 and key 1 are the same: each key stands once)");
  EXPECT_EQ(ask("RL.MTAKE 2 a b GCRA 1/1s"),
            "(error ERR RL.MTAKE takes one limit for each key: 2 keys, 1 limits)");
  EXPECT_EQ(ask("RL.MTAKE 0 a GCRA 1/1s"), "(error ERR numkeys must be between 1 and 16, got '0')");
  EXPECT_EQ(ask("RL.MTAKE u t GCRA 1/1s GCRA 2/1s"),
            "(error ERR numkeys must be between 1 and 16, got 'u'; the number of keys comes first: "
            "RL.MTAKE numkeys key [key ...] limits ...)");
  EXPECT_EQ(ask("RL.MTAKE 9 a GCRA 1/1s"), "(error ERR numkeys is 9, but only 3 arguments follow)");
  EXPECT_EQ(ask("COMMAND GETKEYS RL.MTAKE 2 a b GCRA 1/1s FIXED 5/1m"), "[\"a\", \"b\"]");
}

TEST_F(RlTake, SurvivesARestart) {
  ask("RL.TAKE k TOKENBUCKET 10/1s SLIDINGLOG 5/10s CONCURRENCY 3 LEASE 1m COST 4,2,1");
  restart(200 * kMs);
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 10/1s SLIDINGLOG 5/10s CONCURRENCY 3 LEASE 1m COST 0"),
            "[1, 3, 2, 0, 59800, 2, (nil)]");
  EXPECT_EQ(ask("RL.PEEK k TOKENBUCKET 10/1s COST 0"), "[1, 10, 8, 0, 200, 0]");
  EXPECT_EQ(ask("RL.PEEK k SLIDINGLOG 5/10s COST 4"), "[0, 5, 3, 9800, 9800, 0]");
}

TEST_F(RlTake, ABucketThatStartsLowIsWrittenAtFirstSight) {
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0"), "[0, 5, 0, 1000, 5000, 0]");
  EXPECT_EQ(ask("PTTL k"), "86405000");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0"), "[1, 5, 0, 0, 5000, 0]");
}

TEST_F(RlTake, GenericCommandsWorkOnLimiters) {
  ask("RL.TAKE k SLIDINGLOG 5/10s COST 2");
  EXPECT_EQ(ask("RENAME k k2"), "OK");
  EXPECT_EQ(ask("RL.PEEK k2 COST 0"), "[1, 5, 3, 0, 10000, 0]");
  EXPECT_EQ(ask("COPY k2 k3"), "1");
  ask("RL.TAKE k3 SLIDINGLOG 5/10s COST 3");
  EXPECT_EQ(ask("RL.PEEK k2 COST 0"), "[1, 5, 3, 0, 10000, 0]");
  EXPECT_EQ(ask("RL.PEEK k3 COST 0"), "[1, 5, 0, 0, 10000, 0]");
  EXPECT_EQ(ask("PEXPIRE k3 100"), "1");
  server_->advance(101 * kMs);
  EXPECT_EQ(ask("EXISTS k3"), "0");
  EXPECT_EQ(ask("SCAN 0 TYPE limiter"), "[\"0\", [\"k2\"]]");
  EXPECT_EQ(ask("RL.RESET k2"), "1");
  EXPECT_EQ(ask("RL.RESET k2"), "0");
}

TEST_F(RlTake, RefundsAreClamped) {
  EXPECT_EQ(ask("RL.REFUND k 1"), "(nil)");
  ask("RL.TAKE k GCRA 5/1s FIXED 4/1m COST 3");
  EXPECT_EQ(ask("RL.REFUND k 1"), "[1, 4, 2, 0, 60000, 1]");
  EXPECT_EQ(ask("RL.REFUND k 1 ID r"), "[1, 4, 3, 0, 60000, 1]");
  EXPECT_EQ(ask("RL.REFUND k 1 ID r"), "[1, 4, 3, 0, 60000, 1]");
  EXPECT_EQ(
      ask("RL.REFUND k -1"),
      "(error ERR n must be an integer between 0 and 1000000000000, or one for each limit with "
      "commas between, got '-1')");
  EXPECT_EQ(ask("RL.REFUND k 100").substr(0, 9), "[1, 4, 4,");
}

TEST_F(RlTake, ARefundOfAListUndoesACostOfThatList) {
  ask("RL.TAKE k FIXED 100/1s TOKENBUCKET 1000000/1s COST 1,5120");
  ask("RL.TAKE k FIXED 100/1s TOKENBUCKET 1000000/1s COST 1,5120");
  EXPECT_EQ(ask("RL.REFUND k 1,5120"), "[1, 100, 99, 0, 1000, 0]");
  EXPECT_NE(ask("RL.INFO k").find("994880"), std::string::npos);
  EXPECT_EQ(
      ask("RL.REFUND k 1,1,1"),
      "(error ERR n must be one number, or one for each of the 2 limits that the key was last "
      "used with, got 3)");
  EXPECT_EQ(ask("RL.REFUND k 1,x").substr(0, 28), "(error ERR n must be an inte");
}

TEST_F(RlTake, TellsTheHeaviestKeys) {
  for (int i = 0; i < 3; ++i) ask("RL.TAKE a GCRA 1/1s");
  ask("RL.TAKE b GCRA 9/1s COST 7");
  ask("CL.THROTTLE c 4 1 1 2");
  EXPECT_EQ(ask("RL.TOP"), "[[\"a\", 2, 0]]");
  EXPECT_EQ(ask("RL.TOP TAKEN COUNT 2"), "[[\"b\", 7, 0], [\"c\", 2, 0]]");
  ask("SELECT 1");
  EXPECT_EQ(ask("RL.TOP TAKEN"), "[]");
  EXPECT_EQ(
      ask("RL.TOP COUNT 0"),
      "(error ERR RL.TOP takes DENIED, TAKEN or SHADOW, MINUTE, HOUR or DAY, and COUNT with an "
      "integer between 1 and 1000000, or RESET alone, got '0')");
}

TEST_F(RlTake, TheHeaviestKeysAreThoseOfAWindow) {
  for (int i = 0; i < 3; ++i) ask("RL.TAKE a GCRA 1/1s");
  server_->advance(71 * kSecond);
  for (int i = 0; i < 2; ++i) ask("RL.TAKE b GCRA 1/1s");
  EXPECT_EQ(ask("RL.TOP MINUTE"), "[[\"b\", 1, 0]]");
  EXPECT_EQ(ask("RL.TOP DENIED HOUR"), "[[\"a\", 2, 0], [\"b\", 1, 0]]");
  EXPECT_EQ(ask("RL.TOP DAY DENIED COUNT 1"), "[[\"a\", 2, 0]]");
  EXPECT_EQ(ask("RL.TOP DAY MINUTE").substr(0, 17), "(error ERR RL.TOP");
  for (const char* line : {"RL.TOP RESET", "FLUSHALL", "CONFIG RESETSTAT"}) {
    for (int i = 0; i < 2; ++i) ask("RL.TAKE c GCRA 1/1s");
    EXPECT_NE(ask("RL.TOP"), "[]");
    EXPECT_EQ(ask(line), "OK");
    EXPECT_EQ(ask("RL.TOP DAY"), "[]") << line;
  }
}

TEST_F(RlTake, ShadowIsCountedApart) {
  ask("RL.TAKE k GCRA 1/1s SHADOW");
  for (int i = 0; i < 3; ++i) ask("RL.TAKE k GCRA 1/1s SHADOW");
  ask("RL.MTAKE 2 k m GCRA 1/1s GCRA 1/1s SHADOW");
  EXPECT_EQ(ask("RL.TOP"), "[]");
  EXPECT_EQ(ask("RL.TOP SHADOW"), "[[\"k\", 4, 0]]");
  EXPECT_EQ(ask("RL.TOP TAKEN"), "[[\"k\", 1, 0]]");
  const std::string metrics = ask("INFO limiter");
  const std::string end = "\\x0d\\x0a";
  EXPECT_EQ(metrics, "\"# Limiter" + end + "verdicts:0" + end + "allowed:0" + end + "denied:0" +
                         end + "banned:0" + end + "shadow_allowed:1" + end + "shadow_denied:4" +
                         end + "repeated_ids:0" + end + "bans:0" + end + "limiting:on" + end +
                         "\"");
}

TEST_F(RlTake, TellsWhatAKeyHolds) {
  EXPECT_EQ(ask("RL.INFO k"), "(nil)");
  ask("RL.TAKE k GCRA 100/1m BURST 20");
  ask("HELLO 3");
  EXPECT_EQ(ask("RL.INFO k"),
            "{\"limits\": [{\"algorithm\": \"GCRA\", \"parameters\": \"GCRA 100/1m BURST 20\", "
            "\"limit\": 21, \"remaining\": 20, \"reset_after_ms\": 600}], \"named\": 1, "
            "\"bookings\": 0, \"waiting\": 0, \"holds\": 0, \"banned_ms\": 0}");
}

}  // namespace
}  // namespace weir::server
