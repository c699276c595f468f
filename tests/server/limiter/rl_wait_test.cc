// RL.ACQUIRE, RESERVE and CANCEL on virtual time.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlWait : public LimiterTest {
 protected:
  // One more client, who asks at once and waits for the answer.
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  // Up to the next instant at which somebody is served.
  int64_t to_next_wait() {
    const int64_t wait_ns = (*server_)->next_wait_ns();
    if (wait_ns != kNotDue) server_->clock.advance(wait_ns);
    server_->run_turns();
    return wait_ns;
  }
};

constexpr const char* kOneEachSecond = "RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0";

TEST_F(RlWait, TakesAtOnceWhatIsThere) { EXPECT_EQ(ask(kOneEachSecond), "[1, 1, 0, 0, 1000, 0]"); }

TEST_F(RlWait, IsGrantedAtTheExactInstant) {
  ask(kOneEachSecond);
  const auto waiter = asking(kOneEachSecond);
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ((*server_)->next_wait_ns(), 1 * kSecond);
  server_->clock.advance(kSecond - 1);
  server_->run_turns();
  EXPECT_EQ(heard(*waiter), "");
  server_->clock.advance(1);
  server_->run_turns();
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
}

TEST_F(RlWait, FirstComeFirstServed) {
  ask("RL.TAKE q GCRA 3/3s COST 3");
  const auto first = asking("RL.ACQUIRE q GCRA 3/3s COST 2 TIMEOUT 0");
  const auto second = asking("RL.ACQUIRE q GCRA 3/3s TIMEOUT 0");
  EXPECT_EQ(ask("RL.INFO q").substr(0, 8), "[\"limits");
  while (heard(*second).empty()) {
    EXPECT_NE(to_next_wait(), kNotDue);
    if (!heard(*first).empty()) break;
  }
  EXPECT_EQ(heard(*second), "");
  to_next_wait();
  EXPECT_NE(heard(*second), "");
}

TEST_F(RlWait, NoBargingWhileSomebodyWaits) {
  ask("RL.TAKE q TOKENBUCKET 1/1s CAPACITY 5 COST 4");
  const auto waiter = asking("RL.ACQUIRE q TOKENBUCKET 1/1s CAPACITY 5 COST 3 TIMEOUT 0");
  // One permit is there, but it is the waiter's: he is served after 2 s, this one a second later.
  EXPECT_EQ(ask("RL.TAKE q TOKENBUCKET 1/1s CAPACITY 5"), "[0, 5, 0, 3000, 7000, 0]");
  EXPECT_EQ(ask("RL.TAKE q TOKENBUCKET 1/1s CAPACITY 5 COST 0"), "[1, 5, 1, 0, 4000, 0]");
  EXPECT_EQ(ask("RL.RESERVE q TOKENBUCKET 1/1s CAPACITY 5"), "[0, 3000, (nil)]");
  EXPECT_EQ(ask("RL.PEEK q TOKENBUCKET 1/1s CAPACITY 5").substr(0, 13), "[0, 5, 0, 300");
  server_->advance(2 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 5, 0, 0, 5000, 0]");
}

TEST_F(RlWait, ForceGoesPastTheQueue) {
  ask(kOneEachSecond);
  const auto waiter = asking(kOneEachSecond);
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/1s BURST 0 FORCE"), "[1, 1, -1, 0, 2000, 0]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlWait, IsRefusedAtOnceWhenItWouldBeTooLate) {
  ask(kOneEachSecond);
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 999"), "[0, 1, 0, 1000, 1000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/1s BURST 0 COST 2 TIMEOUT 0"), "[0, 1, 0, -1, 1000, 0]");
  const auto waiter = asking("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 1000");
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 1999"), "[0, 1, 0, 2000, 2000, 0]");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlWait, TimesOut) {
  ask("RL.TAKE q CONCURRENCY 1 LEASE 1m");
  const auto waiter = asking("RL.ACQUIRE q CONCURRENCY 1 LEASE 1m TIMEOUT 60000");
  ask("RL.RENEW q 1");
  server_->advance(30 * kSecond);
  ask("RL.RENEW q 1");
  server_->advance(30 * kSecond - 1);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1);
  EXPECT_EQ(heard(*waiter), "[0, 1, 0, 30000, 30000, 0]");
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
}

TEST_F(RlWait, AReleaseServesTheHead) {
  ask("RL.TAKE q CONCURRENCY 1 LEASE 1m");
  const auto waiter = asking("RL.ACQUIRE q CONCURRENCY 1 LEASE 1m TIMEOUT 0");
  EXPECT_EQ(ask("RL.RELEASE q 1"), "1");
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 60000, 0, 2]");
}

TEST_F(RlWait, WhateverFreesTheKeyServesTheHead) {
  for (const char* line : {"RL.REFUND q 1", "RL.RESET q", "DEL q", "FLUSHALL", "RENAME q q2",
                           "RL.POLICY SET p GCRA 100/1s"}) {
    ask("FLUSHALL");
    ask("RL.POLICY SET p GCRA 1/1s BURST 0");
    ask("RL.TAKE q POLICY p");
    const auto waiter = asking("RL.ACQUIRE q POLICY p TIMEOUT 0");
    EXPECT_EQ(heard(*waiter), "") << line;
    ask(line);
    // A policy's larger capacity carries over what is available: nothing, but it comes sooner.
    if (line[3] == 'P') server_->advance(10 * kMs);
    EXPECT_EQ(heard(*waiter).substr(0, 3), "[1,") << line;
  }
}

TEST_F(RlWait, NothingIsTakenForAClientThatLeft) {
  ask(kOneEachSecond);
  const auto first = asking(kOneEachSecond);
  const auto second = asking(kOneEachSecond);
  first->leave();
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*second), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlWait, RequestsAfterAWaitRunAfterIt) {
  ask(kOneEachSecond);
  const auto waiter = server_->connect();
  waiter->push(words_as_request(kOneEachSecond) + request({"PING"}));
  server_->run_turns();
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]; PONG");
}

TEST_F(RlWait, AWaitSurvivesOtherKeysAndDatabases) {
  ask(kOneEachSecond);
  const auto waiter = asking(kOneEachSecond);
  ask("SELECT 1");
  ask("DEL q");
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/1s BURST 0"), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlWait, AnErrorEndsTheWait) {
  ask(kOneEachSecond);
  const auto waiter = asking(kOneEachSecond);
  ask("SET q hello");
  EXPECT_EQ(heard(*waiter),
            "(error WRONGTYPE Operation against a key holding the wrong kind of value)");
}

TEST_F(RlWait, AnIdIsRememberedWhenItIsGranted) {
  ask(kOneEachSecond);
  const auto waiter = asking("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0 ID a");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0 ID a"), "[1, 1, 0, 0, 1000, 0]");
}

// As a queue: one leaves every half second, never two at once.
TEST_F(RlWait, LeakyIsAQueue) {
  constexpr const char* kLine = "RL.ACQUIRE l LEAKY 2/1s CAPACITY 2 TIMEOUT 0";
  const auto first = asking(kLine);
  const auto second = asking(kLine);
  EXPECT_EQ(ask(kLine), "[0, 2, 0, 500, 1000, 0]");  // the funnel is full
  EXPECT_EQ(heard(*first), "");
  server_->advance(500 * kMs);
  EXPECT_EQ(heard(*first), "[1, 2, 1, 0, 500, 0]");
  EXPECT_EQ(heard(*second), "");
  server_->advance(500 * kMs);
  EXPECT_EQ(heard(*second), "[1, 2, 2, 0, 0, 0]");
}

// The loop comes late, and the key has ended by then: nothing is in the funnel.
TEST_F(RlWait, LeakyTellsOfNowAlsoWhenTheKeyHasEnded) {
  const auto late = asking("RL.ACQUIRE l LEAKY 2/1s CAPACITY 2 TIMEOUT 0");
  const auto full = asking("RL.ACQUIRE m LEAKY 2/1s CAPACITY 2 TIMEOUT 0 FULL");
  server_->advance(700 * kMs);
  EXPECT_EQ(heard(*late), "[1, 2, 2, 0, 0, 0]");
  const std::string rows = heard(*full);
  EXPECT_NE(rows.find("\"remaining\", 2, \"reset_ms\", 0"), rows.npos) << rows;
}

TEST_F(RlWait, LeakyRefusesADepartureAfterTheDeadline) {
  EXPECT_EQ(ask("RL.ACQUIRE l LEAKY 2/1s CAPACITY 2 TIMEOUT 499").substr(0, 15), "[0, 2, 0, 500, ");
  EXPECT_EQ(ask("EXISTS l"), "0");
}

TEST_F(RlWait, AClientThatLeavesTheFunnelGivesBack) {
  const auto first = asking("RL.ACQUIRE l LEAKY 2/1s CAPACITY 2 TIMEOUT 0");
  EXPECT_EQ(ask("RL.PEEK l COST 0"), "[1, 2, 1, 0, 500, 0]");
  first->leave();
  server_->run_turns();
  EXPECT_EQ(ask("EXISTS l"), "0");
}

TEST_F(RlWait, TenThousandOnOneKey) {
  ask(kOneEachSecond);
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 9990; ++i) waiters.push_back(asking(kOneEachSecond));
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/1s BURST 0"), "[0, 1, 0, 9991000, 9991000, 0]");
  for (int i = 0; i < 9990; ++i) {
    EXPECT_EQ(to_next_wait(), kSecond);
    ASSERT_EQ(heard(*waiters[static_cast<size_t>(i)]), "[1, 1, 0, 0, 1000, 0]") << i;
  }
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
}

TEST_F(RlWait, ManyKeys) {
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 9990; ++i) {
    const std::string line = "RL.ACQUIRE k" + std::to_string(i) + " GCRA 1/1s BURST 0 TIMEOUT 0";
    ask(line);
    waiters.push_back(asking(line));
  }
  server_->advance(1 * kSecond);
  for (const auto& waiter : waiters) EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
}

// --- bookings ----------------------------------------------------------------------------------

class RlReserve : public LimiterTest {};

TEST_F(RlReserve, BooksAhead) {
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0"), "[1, 0, 1]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0"), "[1, 1000, 2]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0"), "[1, 2000, 3]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0 MAXWAIT 2999"), "[0, 3000, (nil)]");
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s BURST 0"), "[0, 1, -2, 3000, 3000, 0]");
}

TEST_F(RlReserve, CancelGivesBackLessWhatComesAfter) {
  ask("RL.RESERVE k GCRA 1/1s BURST 9 COST 10");  // due at once
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 9 COST 5"), "[1, 5000, 2]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 9 COST 2"), "[1, 7000, 3]");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "3");  // two of the five are covered for the booking after it
  EXPECT_EQ(ask("RL.CANCEL k 2"), "0");
  EXPECT_EQ(ask("RL.CANCEL k 3"), "2");
  EXPECT_EQ(ask("RL.CANCEL k 1"), "0");
  EXPECT_EQ(ask("RL.CANCEL k 99"), "0");
  EXPECT_EQ(ask("RL.CANCEL k x"),
            "(error ERR id must be an integer above 0, as it was answered, got 'x')");
}

TEST_F(RlReserve, ADueBookingCannotBeCancelled) {
  ask("RL.RESERVE k GCRA 1/1s BURST 0");
  ask("RL.RESERVE k GCRA 1/1s BURST 0");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.CANCEL k 2"), "0");
}

TEST_F(RlReserve, SurvivesARestart) {
  ask("RL.RESERVE k GCRA 1/1s BURST 0");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0"), "[1, 1000, 2]");
  restart(100 * kMs);
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0 MAXWAIT 0"), "[0, 1900, (nil)]");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "1");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0 MAXWAIT 900").substr(0, 8), "[1, 900,");
}

TEST_F(RlReserve, BooksAllLimitsOrNone) {
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0 LEAKY 1/10s CAPACITY 1"), "[1, 10000, 1]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 1/1s BURST 0 LEAKY 1/10s CAPACITY 1"), "[0, 10000, (nil)]");
  EXPECT_EQ(ask("RL.PEEK k GCRA 1/1s BURST 0 COST 0"), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlReserve, RefusesLimitsWithoutBookings) {
  EXPECT_EQ(ask("RL.RESERVE k FIXED 5/1m"),
            "(error ERR limit 0 (FIXED) takes no bookings: GCRA, TOKENBUCKET with REFILL GREEDY, "
            "LEAKY, BURSTY and WARMUP do)");
  EXPECT_EQ(ask("RL.RESERVE k TOKENBUCKET 5/1m REFILL INTERVAL").substr(0, 37),
            "(error ERR limit 0 (TOKENBUCKET) take");
}

TEST_F(RlReserve, GuavasPairBooks) {
  EXPECT_EQ(ask("RL.RESERVE k BURSTY 1/1s COST 3"), "[1, 0, 1]");
  EXPECT_EQ(ask("RL.RESERVE k BURSTY 1/1s"), "[1, 3000, 2]");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "1");
}

}  // namespace
}  // namespace weir::server
