// Rules of RL.* that a fast path or a less travelled command could forget.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlRules : public LimiterTest {};

TEST_F(RlRules, CostsMustFitOneLimitToo) {
  const char* error = "(error ERR COST must be one number, or one for each of the 1 limits, got 2)";
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s COST 2,5"), error);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s BURST 9 COST 2,5"), error);
  EXPECT_EQ(ask("EXISTS k"), "0");
}

TEST_F(RlRules, NoLeaseNoId) {
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s CONCURRENCY 2 LEASE 1s COST 1,0"),
            "[1, 2, 2, 0, 0, 1, (nil)]");
}

// Law 3: a denial writes the first sight of a bucket that starts low, and changed parameters.
TEST_F(RlRules, ADeniedMtakeStartsABucket) {
  EXPECT_EQ(ask("RL.MTAKE 1 k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0"),
            "[0, 0, [0, 5, 0, 1000, 5000, 0]]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.MTAKE 1 k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0"),
            "[1, -1, [1, 5, 0, 0, 5000, 0]]");
}

// Whoever asks for a lease is asked for its id first; the denial is remembered nevertheless.
TEST_F(RlRules, ADenialBesideALeaseStartsABucket) {
  for (const char* command : {"RL.TAKE k", "RL.MTAKE 1 m", "RL.ACQUIRE w"}) {
    const std::string request = std::string(command) + (command[3] == 'M' ? " EACH" : "") +
                                " TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 CONCURRENCY 3 LEASE 1m" +
                                (command[3] == 'A' ? " TIMEOUT 1" : "");
    EXPECT_EQ(ask(request).substr(0, 2), "[0") << request;
    server_->advance(1 * kSecond);
    EXPECT_EQ(ask(request).substr(0, 2), "[1") << request;
  }
}

TEST_F(RlRules, ADeniedReservationStartsABucket) {
  EXPECT_EQ(ask("RL.RESERVE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 MAXWAIT 0"),
            "[0, 1000, (nil)]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.RESERVE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 MAXWAIT 0"), "[1, 0, 1]");
}

TEST_F(RlRules, DeniedRequestsKeepChangedParameters) {
  ask("RL.TAKE k GCRA 10/1s COST 10");
  EXPECT_EQ(ask("RL.MTAKE 1 k GCRA 1/1s BURST 9").substr(0, 8), "[0, 0, [");
  server_->advance(500 * kMs);  // at the new rate half a permit, at the old one five
  EXPECT_EQ(ask("RL.PEEK k"), "[0, 10, 0, 500, 9500, 0]");
  ask("RL.TAKE r GCRA 10/1s COST 10");
  EXPECT_EQ(ask("RL.RESERVE r GCRA 1/1s BURST 9 MAXWAIT 0"), "[0, 1000, (nil)]");
  server_->advance(500 * kMs);
  EXPECT_EQ(ask("RL.PEEK r"), "[0, 10, 0, 500, 9500, 0]");
}

// Nineteen digits are a limiter for GCRA alone; for everything else they are somebody's string.
TEST_F(RlRules, OnlyGcraAdoptsAString) {
  const std::string wrong_type =
      "(error WRONGTYPE Operation against a key holding the wrong kind of value)";
  ask("SET s 1700000000000000000");
  for (const char* line :
       {"RL.TAKE s FIXED 5/1m", "RL.PEEK s FIXED 5/1m", "RL.RESET s", "RL.MTAKE 1 s FIXED 5/1m",
        "RL.ACQUIRE s FIXED 5/1m TIMEOUT 0", "RL.RESERVE s LEAKY 5/1m"}) {
    EXPECT_EQ(ask(line), wrong_type) << line;
  }
  EXPECT_EQ(ask("GET s"), "\"1700000000000000000\"");
  EXPECT_EQ(ask("RL.TAKE s GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("TYPE s"), "limiter");
}

// While it is named it is kept for a day when it is full, since a new one would not be.
TEST_F(RlRules, ALimitThatStartsLowLeavesWhenItIsFull) {
  ask("RL.TAKE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 4 COST 4");
  EXPECT_EQ(ask("PTTL k"), "86405000");
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("RL.INFO k").find("TOKENBUCKET") != std::string::npos, true);
  EXPECT_EQ(ask("PTTL k"), "5000");
  server_->advance(5 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k GCRA 5/1s"), "[1, 5, 4, 0, 200, 0]");
  EXPECT_EQ(ask("RL.INFO k").find("TOKENBUCKET"), std::string::npos);
  EXPECT_EQ(ask("PTTL k"), "200");
}

// What was booked after a booking counts whatever the parameters were called then.
TEST_F(RlRules, CancelCountsBookingsUnderOtherParameters) {
  ask("RL.TAKE k GCRA 1/1s BURST 4 COST 5");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 4 COST 5"), "[1, 5000, 1]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 60/1m BURST 4 COST 2"), "[1, 7000, 2]");
  EXPECT_EQ(ask("RL.CANCEL k 1"), "3");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "2");
}

}  // namespace
}  // namespace weir::server
