// HOLD and RL.SETTLE: permits taken as an estimate and settled by what was used.
#include "server/limiter/take/holds.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlSettle : public LimiterTest {
 protected:
  std::string holds_of(const std::string& key) {
    const std::string info = ask("RL.INFO " + key);
    const size_t at = info.find("\"holds\", ");
    return at == info.npos ? info : info.substr(at + 9, info.find(',', at + 9) - at - 9);
  }
};

TEST_F(RlSettle, TheRestIsGivenBackOrMoreIsTaken) {
  EXPECT_EQ(ask("RL.TAKE k FIXED 1000/1h COST 500 HOLD 60s"), "[1, 1000, 500, 0, 3600000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 1000/1h COST 500 HOLD 60s"), "[1, 1000, 0, 0, 3600000, 0, 2]");
  EXPECT_EQ(holds_of("k"), "2");
  EXPECT_EQ(ask("RL.SETTLE k 1 120"), "[1, 1000, 380, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.SETTLE k 2 1000"), "[1, 1000, -120, 0, 3600000, 0]");
  EXPECT_EQ(holds_of("k"), "0");
  EXPECT_EQ(ask("RL.TAKE k FIXED 1000/1h").substr(0, 14), "[0, 1000, -120");
}

TEST_F(RlSettle, ARepetitionGetsTheSameAnswerForAMinute) {
  ask("RL.TAKE k 10/1m COST 8 HOLD 10s");
  EXPECT_EQ(ask("RL.SETTLE k 1 3"), "[1, 10, 7, 0, 18000, 0]");
  server_->clock.advance(59 * kSecond);
  EXPECT_EQ(ask("RL.SETTLE k 1 3"), "[1, 10, 7, 0, 18000, 0]");
  EXPECT_EQ(ask("RL.SETTLE k 1 4"), "(error ERR the hold was settled with another cost)");
  restart();
  EXPECT_EQ(ask("RL.SETTLE k 1 3"), "[1, 10, 7, 0, 18000, 0]");
  server_->clock.advance(2 * kSecond);
  EXPECT_EQ(ask("RL.SETTLE k 1 3"), "(nil)");
}

TEST_F(RlSettle, AHoldThatHasEndedIsChargedAsEstimated) {
  ask("RL.TAKE k FIXED 10/1h COST 8 HOLD 10s");
  server_->clock.advance(10 * kSecond);
  EXPECT_EQ(holds_of("k"), "0");
  EXPECT_EQ(ask("RL.CANCEL k 1"), "0");
  EXPECT_EQ(ask("RL.SETTLE k 1 3"), "(nil)") << "that was the late settlement";
  EXPECT_EQ(ask("RL.PEEK k COST 0").substr(0, 10), "[1, 10, 2,");
  EXPECT_EQ(ask("RL.SETTLE k 7 3"), "(nil)");
  EXPECT_EQ(ask("RL.SETTLE none 7 3"), "(nil)");
  EXPECT_EQ(ask("RL.SETTLE k 0 3").substr(0, 14), "(error ERR id ");
  EXPECT_EQ(ask("RL.SETTLE k 1 -3").substr(0, 16), "(error ERR cost ");
  ask("SET s x");
  EXPECT_EQ(ask("RL.SETTLE s 1 3").substr(0, 16), "(error WRONGTYPE");
}

// What was used in addition is charged when it is told of, and nothing comes back.
TEST_F(RlSettle, AHoldThatHasEndedIsSettledLate) {
  for (int i = 1; i <= 4; ++i) ask("RL.TAKE k FIXED 100/1h COST 10 HOLD 10s");
  server_->clock.advance(69 * kSecond);
  ask("RL.TAKE k FIXED 100/1h COST 10 HOLD 10s");
  EXPECT_EQ(ask("RL.SETTLE k 1 15").substr(0, 12), "[1, 100, 45,");
  EXPECT_EQ(ask("RL.SETTLE k 1 15").substr(0, 12), "[1, 100, 45,") << "told again";
  EXPECT_EQ(ask("RL.SETTLE k 2 3").substr(0, 12), "[1, 100, 45,");
  EXPECT_EQ(ask("RL.SETTLE k 3 0").substr(0, 12), "[1, 100, 45,");
  server_->clock.advance(kSecond);
  EXPECT_EQ(ask("RL.SETTLE k 4 15"), "(nil)");
  EXPECT_EQ(ask("RL.SETTLE k 5 15").substr(0, 12), "[1, 100, 40,") << "it has not ended";
}

TEST_F(RlSettle, AHoldIsRenewed) {
  ask("RL.TAKE k FIXED 100/1h COST 10 HOLD 10s");
  for (int i = 0; i < 3; ++i) {
    server_->clock.advance(9 * kSecond);
    EXPECT_EQ(ask("RL.RENEW k 1"), "10");
  }
  restart();
  server_->clock.advance(9 * kSecond);
  EXPECT_EQ(ask("RL.SETTLE k 1 4").substr(0, 12), "[1, 100, 96,");
  EXPECT_EQ(ask("RL.RENEW k 1"), "0");
  ask("RL.TAKE k FIXED 100/1h COST 10 HOLD 10s");
  server_->clock.advance(10 * kSecond);
  EXPECT_EQ(ask("RL.RENEW k 1"), "0") << "it has ended";
  const std::string both = ask("RL.TAKE c CONCURRENCY 2 LEASE 10s FIXED 100/1h COST 1,10 HOLD 10s");
  const std::string id = both.substr(both.rfind(' ') + 1, both.size() - both.rfind(' ') - 2);
  server_->clock.advance(9 * kSecond);
  EXPECT_EQ(ask("RL.RENEW c " + id), "10") << "with its lease";
  server_->clock.advance(9 * kSecond);
  EXPECT_EQ(ask("RL.SETTLE c " + id + " 0,4"), "[1, 2, 2, 0, 0, 0]");
}

// A full limit's key stays until the hold ends: more may have been used than estimated.
TEST_F(RlSettle, AHoldKeepsItsKeyUntilItEnds) {
  ask("RL.TAKE k 10/1s COST 5 HOLD 60s");
  server_->advance(59 * kSecond);
  EXPECT_EQ(ask("RL.SETTLE k 1 700"), "[1, 10, -100, 0, 11000, 0]");
  ask("RL.TAKE j 10/1s COST 5 HOLD 5s");
  server_->advance(64 * kSecond);
  EXPECT_EQ(ask("EXISTS j"), "1");
  server_->advance(2 * kSecond);
  EXPECT_EQ(ask("EXISTS j"), "0");
}

TEST_F(RlSettle, ACancellationSettlesZero) {
  ask("RL.TAKE k 10/1m COST 8 HOLD 10s");
  EXPECT_EQ(ask("RL.CANCEL k 1"), "8");
  EXPECT_EQ(ask("RL.CANCEL k 1"), "0");
  EXPECT_EQ(ask("RL.SETTLE k 1 0"), "(nil)");
  EXPECT_EQ(ask("EXISTS k"), "0");
}

TEST_F(RlSettle, EveryLimitIsSettledAlsoTheSameTwice) {
  const std::string limits = "FIXED 100/1h FIXED 100/1h SLIDINGCOUNTER 1000/1h";
  EXPECT_EQ(ask("RL.TAKE k " + limits + " COST 10,20,30 HOLD 1m"),
            "[1, 100, 80, 0, 3600000, 1, 1]");
  EXPECT_EQ(ask("RL.SETTLE k 1 1,2"),
            "(error ERR cost must be one number, or one for each of the 3 limits that are held, "
            "got 2)");
  EXPECT_EQ(ask("RL.SETTLE k 1 1,99,5").substr(0, 11), "[1, 100, 1,");
  EXPECT_EQ(ask("RL.PEEK k FIXED 100/1h COST 0").substr(0, 12), "[1, 100, 99,");
  EXPECT_EQ(ask("RL.PEEK k SLIDINGCOUNTER 1000/1h COST 0").substr(0, 14), "[1, 1000, 995,");
}

TEST_F(RlSettle, TheLeaseHasTheHoldsIdAndIsReleased) {
  const std::string limits = "CONCURRENCY 2 LEASE 1h FIXED 100/1h";
  EXPECT_EQ(ask("RL.TAKE k " + limits + " COST 1,50 HOLD 1m"), "[1, 2, 1, 0, 3600000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE k " + limits + " COST 1,50"), "[1, 2, 0, 0, 3600000, 0, 2]");
  EXPECT_EQ(ask("RL.SETTLE k 1 20"), "[1, 2, 1, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.RELEASE k 1"), "0");
  EXPECT_EQ(ask("RL.RELEASE k 2"), "1");
  EXPECT_EQ(ask("RL.PEEK k FIXED 100/1h COST 0").substr(0, 12), "[1, 100, 30,");
  EXPECT_EQ(ask("RL.TAKE k " + limits + " COST 1,0 HOLD 1m"), "[1, 2, 1, 0, 3600000, 0, 3]");
  EXPECT_EQ(ask("RL.RELEASE k 3"), "1") << "a lease may be released before the hold is settled";
  EXPECT_EQ(ask("RL.SETTLE k 3 0,5"), "[1, 2, 2, 0, 0, 0]");
}

TEST_F(RlSettle, WhatIsHeldIsWhatWasGranted) {
  EXPECT_EQ(ask("RL.TAKE k FIXED 100/1h COST 150 UPTO HOLD 1m"),
            "[1, 100, 0, 0, 3600000, 0, 100, 1]");
  EXPECT_EQ(ask("RL.SETTLE k 1 90"), "[1, 100, 10, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 100/1h COST 50 FORCE HOLD 1m"), "[1, 100, -40, 0, 3600000, 0, 2]");
  EXPECT_EQ(ask("RL.SETTLE k 2 10"), "[1, 100, 0, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 100/1h HOLD 1m"), "[0, 100, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 100/1h SHADOW HOLD 1m"),
            "[1, 100, 0, 3600000, 3600000, 0, (nil)]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 100/1h COST 0 HOLD 1m"), "[1, 100, 0, 0, 3600000, 0, (nil)]");
  EXPECT_EQ(ask("RL.TAKE s FIXED 100/1h SHADOW HOLD 1m"), "[1, 100, 99, 0, 3600000, -1, 3]");
  EXPECT_EQ(holds_of("k"), "0");
}

TEST_F(RlSettle, ARepeatedRequestGetsTheSameHold) {
  const std::string line = "RL.TAKE k FIXED 100/1h COST 50 ID a HOLD 5m";
  EXPECT_EQ(ask(line), "[1, 100, 50, 0, 3600000, 0, 1]");
  EXPECT_EQ(ask(line), "[1, 100, 50, 0, 3600000, 0, 1]");
  EXPECT_EQ(holds_of("k"), "1");
}

TEST_F(RlSettle, FullNamesTheHold) {
  ask("HELLO 3");
  EXPECT_NE(ask("RL.TAKE k 10/1s FULL HOLD 1m").find("\"lease\": (nil), \"hold\": 1, \"shadow\""),
            std::string::npos);
  EXPECT_NE(ask("RL.TAKE k 10/1s COST 11 FULL HOLD 1m").find("\"hold\": (nil)"), std::string::npos);
  EXPECT_EQ(ask("RL.TAKE k 10/1s FULL").find("hold"), std::string::npos);
}

TEST_F(RlSettle, EachKeyOfAnMtakeHasItsHold) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b FIXED 10/1h FIXED 20/1h COST 5 HOLD 1m"),
            "[1, -1, [1, 10, 5, 0, 3600000, 0, 1], [1, 20, 15, 0, 3600000, 0, 2]]");
  EXPECT_EQ(ask("RL.SETTLE a 1 1"), "[1, 10, 9, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.SETTLE b 2 1"), "[1, 20, 19, 0, 3600000, 0]");
}

TEST_F(RlSettle, WhoWaitedHoldsToo) {
  ask("RL.TAKE k TOKENBUCKET 10/1s COST 10");
  auto client = server_->connect();
  send(*client, "RL.ACQUIRE k TOKENBUCKET 10/1s COST 5 HOLD 1m TIMEOUT 10s");
  server_->advance(kSecond);
  EXPECT_EQ(heard(*client).substr(0, 7), "[1, 10,");
  EXPECT_EQ(holds_of("k"), "1");
}

// While it waits to leave the funnel it can be cancelled, whoever is there to hear of it, and only
// that: what it has taken comes back once.
TEST_F(RlSettle, WhatIsHeldAndBookedComesBackOnce) {
  auto first = server_->connect();
  send(*first, "RL.ACQUIRE k LEAKY 1/1s CAPACITY 9 COST 3 TIMEOUT 1m");
  auto held = server_->connect();
  send(*held, "RL.ACQUIRE k LEAKY 1/1s CAPACITY 9 COST 2 TIMEOUT 1m HOLD 1m ID held");
  held.reset();
  EXPECT_EQ(holds_of("k"), "1");
  EXPECT_EQ(ask("RL.SETTLE k 2 0"), "(nil)");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "2");
  EXPECT_EQ(holds_of("k"), "0");
  for (const std::string id : {"2", "3"}) {
    EXPECT_EQ(ask("RL.CANCEL k " + id), "0");
    EXPECT_EQ(ask("RL.SETTLE k " + id + " 0"), "(nil)");
  }
  EXPECT_EQ(ask("RL.PEEK k").substr(0, 8), "[1, 9, 5");  // with the one that is asked for
}

TEST_F(RlSettle, ASettlementServesWhoWaits) {
  ask("RL.TAKE k FIXED 10/1h COST 10 HOLD 1m");
  auto client = server_->connect();
  send(*client, "RL.ACQUIRE k FIXED 10/1h COST 5 TIMEOUT 2h");
  server_->run_turns();
  EXPECT_EQ(heard(*client), "");
  ask("RL.SETTLE k 1 3");
  server_->run_turns();
  EXPECT_EQ(heard(*client), "[1, 10, 2, 0, 3600000, 0]");
}

TEST_F(RlSettle, HoldsOutliveRestartsAndFollowTheirKey) {
  const std::string limits =
      "SLIDINGLOG 100/1h CONCURRENCY 3 LEASE 1h BURSTY 5/1s FIXED 100 ALIGN DAY";
  ask("RL.TAKE k " + limits + " COST 50,1,5,50 HOLD 1h");
  ask("RL.RESERVE k GCRA 1/1s BURST 0");
  ask("RL.RESERVE k GCRA 1/1s BURST 0");
  restart(kSecond);
  EXPECT_EQ(holds_of("k"), "1");
  ask("RENAME k moved");
  ask("COPY moved copied");
  const std::string settled = ask("RL.SETTLE moved 1 7");
  EXPECT_EQ(settled.substr(0, 3), "[1,");
  EXPECT_EQ(ask("RL.SETTLE copied 1 7"), settled);
  EXPECT_EQ(ask("RL.PEEK moved SLIDINGLOG 100/1h COST 0").substr(0, 12), "[1, 100, 93,");
}

TEST_F(RlSettle, ADumpHoldsThem) {
  ask("RL.TAKE k FIXED 100/1h COST 50 HOLD 1h");
  const std::string dumped = client_->send(words_as_request("DUMP k"));
  const size_t begin = dumped.find("\r\n") + 2;
  const std::string payload = dumped.substr(begin, dumped.size() - begin - 2);
  EXPECT_EQ(client_->call({"RESTORE", "r", "0", payload}), "+OK\r\n");
  EXPECT_EQ(ask("RL.SETTLE r 1 1"), "[1, 100, 99, 0, 3600000, 0]");
}

TEST_F(RlSettle, AResetDropsThem) {
  ask("RL.TAKE k FIXED 100/1h COST 50 HOLD 1h");
  EXPECT_EQ(ask("RL.RESET k"), "1");
  ask("RL.TAKE k FIXED 100/1h");
  EXPECT_EQ(ask("RL.SETTLE k 1 1"), "(nil)");
  EXPECT_EQ(holds_of("k"), "0");
}

// Of a window limit that has changed its count only, a charge is found in its window still.
TEST_F(RlSettle, ALimitThatHasChangedMeanwhile) {
  ask("RL.TAKE f FIXED 100/1h COST 50 HOLD 1h");
  ask("RL.TAKE f FIXED 200/1h");
  EXPECT_EQ(ask("RL.SETTLE f 1 10"), "[1, 200, 189, 0, 3600000, 0]");
  ask("RL.TAKE g 100/1h COST 50 HOLD 1h");
  ask("RL.TAKE g 200/1h");
  EXPECT_EQ(ask("RL.SETTLE g 2 10").substr(0, 14), "[1, 200, 149, ");
  ask("RL.TAKE h FIXED 100/1h COST 50 HOLD 1h");
  ask("RL.TAKE h 100/1h");
  EXPECT_EQ(ask("RL.SETTLE h 3 10").substr(0, 3), "[1,");
}

TEST_F(RlSettle, ADebtThatNoStateCanHoldIsDenied) {
  ask("RL.TAKE k GCRA 1/3650d BURST 0 HOLD 1h");
  EXPECT_EQ(ask("RL.SETTLE k 1 1000").substr(0, 11), "[0, 1, 0, -");
  EXPECT_EQ(holds_of("k"), "1");
  EXPECT_EQ(ask("RL.SETTLE k 1 2").substr(0, 9), "[1, 1, -1");
}

TEST_F(RlSettle, HoldIsRefusedInWords) {
  const std::string form =
      "(error ERR HOLD must be an integer and a unit (us ms s m h d w), above 0 and at most 1d, "
      "got ";
  EXPECT_EQ(ask("RL.TAKE k 1/1s HOLD 0"), form + "'0')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s HOLD x"), form + "'x')");
  EXPECT_EQ(ask("RL.TAKE k 1/1s HOLD 25h"), form + "'25h')");
}

TEST_F(RlSettle, ASettlementIsAnEvent) {
  auto listener = server_->connect();
  ask("CONFIG SET notify-keyspace-events Er");
  server::ask(*listener, "PSUBSCRIBE *");
  ask("RL.TAKE k 10/1s HOLD 1m");
  ask("RL.SETTLE k 1 0");
  const std::string events = heard(*listener);
  EXPECT_NE(events.find("keyevent@0__:allowed"), std::string::npos) << events;
  EXPECT_NE(events.find("keyevent@0__:settled"), std::string::npos) << events;
}

// The cost of a request does not grow with the number of holds.
TEST_F(RlSettle, ManyHoldsCostNoMoreThanFew) {
  const auto units = [this](const std::string& line) {
    const uint64_t before = (*server_)->work().units();
    EXPECT_EQ(ask(line).substr(0, 3), "[1,") << line;
    return (*server_)->work().units() - before;
  };
  for (const std::string limits :
       {"FIXED 1000000/1h", "SLIDINGLOG 1000000/1h CONCURRENCY 100000 LEASE 1h"}) {
    ask("RL.RESET k");
    for (int i = 0; i < 3000; ++i) {
      server_->clock.advance(kMs);
      ask("RL.TAKE k " + limits + " COST 2 HOLD 1h");
    }
    const std::string reply = ask("RL.TAKE k " + limits + " COST 2 HOLD 1h");
    const std::string id = reply.substr(reply.rfind(' ') + 1);
    EXPECT_LT(units("RL.TAKE k " + limits + " HOLD 1h"), 500u);
    EXPECT_LT(units("RL.SETTLE k " + id.substr(0, id.size() - 1) + " 1"), 500u);
    EXPECT_LT(units("RL.SETTLE k " + std::to_string(std::stoi(id) - 2900) + " 1"), 500u);
  }
}

TEST_F(RlSettle, AKeyHasSoManyHoldsAtMost) {
  for (size_t i = 0; i < kHoldsMax; ++i) ask("RL.TAKE k 1000000/1s HOLD 1h");
  EXPECT_EQ(holds_of("k"), "65536");
  EXPECT_EQ(ask("RL.TAKE k 1000000/1s HOLD 1h"),
            "(error ERR the key has 65536 holds that have not ended yet, the most there may be)");
  EXPECT_EQ(ask("RL.TAKE k 1000000/1s").substr(0, 2), "[1");
  server_->clock.advance(7200 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k 1000000/1s HOLD 1h").substr(0, 2), "[1");
}

}  // namespace
}  // namespace weir::server
