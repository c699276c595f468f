// What one user of limiters must not be able to do to the others: requests and departures that once
// ended the process, numbers that once meant something elsewhere, grants that nobody was charged
// for.
#include <set>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlTrust : public LimiterTest {
 protected:
  RlTrust() { (*server_)->limiters().ids = RandomIds({3, 4}); }

  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  void pass(int64_t ns) {
    server_->clock.advance(ns);
    server_->run_turns();
  }
  // The last of the integers that a reply shows.
  static int64_t last_number(const std::string& reply) {
    return std::stoll(reply.substr(reply.rfind(' ') + 1));
  }
};

// Each of the equal limits is simulated on a copy of its own.
TEST_F(RlTrust, EqualLimitsOfOneRequestStandInAQueueApart) {
  const std::string limits = "CONCURRENCY 2 LEASE 10s CONCURRENCY 2 LEASE 10s";
  ask("RL.TAKE shop " + limits + " COST 2");
  const auto waiter = asking("RL.ACQUIRE shop " + limits + " TIMEOUT 0");
  EXPECT_EQ(ask("RL.TAKE shop " + limits), "[0, 2, 0, 10000, 20000, 0]");
  EXPECT_EQ((*server_)->report().stats.internal_errors, 0u);
  pass(10 * kSecond);
  EXPECT_TRUE(heard(*waiter).starts_with("[1, 2, 1, 0,"));
}

TEST_F(RlTrust, EqualLimitsOfAnyAlgorithmAreChargedApartInTheSimulation) {
  ask("RL.TAKE k GCRA 1/1s BURST 0 GCRA 1/1s BURST 0");
  const auto waiter = asking("RL.ACQUIRE k GCRA 1/1s BURST 0 GCRA 1/1s BURST 0 TIMEOUT 0");
  // After the waiter's turn at one second: one second more, not two.
  EXPECT_EQ(ask("RL.TAKE k GCRA 1/1s BURST 0 GCRA 1/1s BURST 0"), "[0, 1, 0, 2000, 2000, 0]");
  pass(kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlTrust, AStringInThePlaceOfALimiterThatSomebodyIsLeavingEndsNothing) {
  const std::string line = "RL.ACQUIRE q LEAKY 1/1s CAPACITY 5 TIMEOUT 0";
  const auto first = asking(line);
  const auto leaving = asking(line);
  EXPECT_EQ(heard(*leaving), "");
  EXPECT_EQ(ask("RL.RESET q"), "1");
  EXPECT_EQ(ask("SET q 1700000000000000000"), "OK");  // a theoretical arrival time
  pass(2 * kSecond);
  // It had its permits, and still has them; what is left nobody can say.
  EXPECT_TRUE(heard(*leaving).starts_with("[1, "));
  EXPECT_EQ((*server_)->report().stats.internal_errors, 0u);
}

TEST_F(RlTrust, AClientThatLeavesAfterItsLimiterBecameAStringChangesNothing) {
  const std::string line = "RL.ACQUIRE q LEAKY 1/1s CAPACITY 5 TIMEOUT 0";
  const auto first = asking(line);
  const auto leaving = asking(line);
  ask("RL.RESET q");
  ask("SET q 1700000000000000000");
  leaving->leave();
  server_->run_turns();
  EXPECT_EQ(ask("GET q"), "\"1700000000000000000\"");
}

TEST_F(RlTrust, LeaseIdsAreDrawnAtRandomBelow2To53) {
  std::set<int64_t> ids;
  for (int i = 0; i < 200; ++i) {
    const int64_t id = last_number(ask("RL.TAKE pool CONCURRENCY 1000 LEASE 1h"));
    EXPECT_GT(id, 0);
    EXPECT_LT(id, int64_t{1} << 53);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 200u);
  EXPECT_GT(*ids.rbegin() - *ids.begin(), int64_t{1} << 40);  // they do not count up
}

// The dump of one server, restored on another that has drawn as many numbers.
TEST_F(RlTrust, LeasesOfAnotherServerAreLeasesHere) {
  const std::string lease = "CONCURRENCY 5 LEASE 1h";
  const int64_t theirs = last_number(ask("RL.TAKE pool " + lease));
  std::string dump = client_->call({"DUMP", "pool"});
  dump = dump.substr(dump.find('\n') + 1);
  dump.resize(dump.size() - 2);
  FakeServer other;
  other->limiters().ids = RandomIds({3, 4});  // it draws the same
  auto client = other.connect();
  EXPECT_EQ(client->call({"RESTORE", "pool", "0", dump}), "+OK\r\n");
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(server::ask(*client, "RL.TAKE pool " + lease).starts_with("[1, 5,"));
  }
  EXPECT_TRUE(server::ask(*client, "RL.TAKE pool " + lease).starts_with("[0, 5, 0,"));
  EXPECT_EQ(server::ask(*client, "RL.RELEASE pool " + std::to_string(theirs)), "1");
  EXPECT_EQ(other->report().stats.internal_errors, 0u);
}

// What was booked later is told by instants, whatever the numbers: two of three permits stay with
// the booking that waits for them.
TEST_F(RlTrust, ABookingIsGivenBackLessWhatWasBookedLater) {
  for (int round = 0; round < 20; ++round) {
    const std::string key = "k" + std::to_string(round);
    const std::string limits = " TOKENBUCKET 1/1s CAPACITY 1 ";
    ask("RL.TAKE " + key + limits);
    const int64_t first = last_number(ask("RL.RESERVE " + key + limits + "COST 1"));
    ask("RL.RESERVE " + key + limits + "COST 1");
    EXPECT_EQ(ask("RL.CANCEL " + key + " " + std::to_string(first)), "0");
  }
}

std::string sixteen_limits() {
  std::string limits;
  for (int days = 1; days <= 16; ++days) limits += " GCRA 1/" + std::to_string(days) + "d";
  return limits;
}

// A key that would have to forget a limit that still counts refuses the request instead.
TEST_F(RlTrust, ALimitThatStillCountsIsNotPushedOut) {
  EXPECT_EQ(ask("RL.TAKE k FIXED 1/1h").substr(0, 2), "[1");
  const std::string refused =
      "(error ERR the key cannot hold 17 limits, 16 are the most: those that the request does not "
      "name stay until they are full, the first of them in 3600000 ms)";
  for (const char* command : {"RL.TAKE k", "RL.PEEK k"}) {
    EXPECT_EQ(ask(command + sixteen_limits()), refused);
  }
  EXPECT_EQ(ask("RL.ACQUIRE k" + sixteen_limits() + " TIMEOUT 0"), refused);
  EXPECT_EQ(ask("RL.RESERVE k" + sixteen_limits()), refused);
  EXPECT_EQ(ask("RL.TAKE k FIXED 1/1h"), "[0, 1, 0, 3600000, 3600000, 0]");
}

TEST_F(RlTrust, AFullLimitMakesRoomForAnother) {
  ask("RL.TAKE k FIXED 1/1h");
  server_->clock.advance(3600 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k" + sixteen_limits()).substr(0, 2), "[1");
  EXPECT_EQ(ask("CL.THROTTLE k 0 1 60").substr(0, 2), "[1");  // its GCRA limit becomes this one
  EXPECT_EQ(ask("RL.TAKE k FIXED 1/1h").substr(0, 28), "(error ERR the key cannot ho");
  EXPECT_EQ(ask("RL.RESET k"), "1");
  EXPECT_EQ(ask("RL.TAKE k FIXED 1/1h").substr(0, 2), "[1");
}

// Departures of a turn that could not be committed were granted, though nobody was charged.
TEST_F(RlTrust, WhoeverBeganToWaitInAFailedTurnIsAnsweredItsError) {
  const std::string line = "RL.ACQUIRE q LEAKY 1/2s CAPACITY 1000 TIMEOUT 0";
  const auto first = asking(line);
  auto waiter = server_->connect();
  server_->disk().faults.append_lost = 1;
  send(*waiter, line);
  server_->end_turn();
  EXPECT_NE(heard(*waiter).find("MISCONF"), std::string::npos);
  server_->advance(2 * kSecond);
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(waiter->call({"PING"}), "+PONG\r\n");  // it waits no more
}

TEST_F(RlTrust, WhoeverBeganToWaitBeforeAFailedTurnGoesOnWaiting) {
  const std::string line = "RL.ACQUIRE q LEAKY 1/2s CAPACITY 1000 TIMEOUT 0";
  const auto first = asking(line);
  const auto waiter = asking(line);
  server_->disk().faults.append_lost = 1;
  EXPECT_NE(ask("SET a 1").find("MISCONF"), std::string::npos);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(4 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 1000, 1000, 0, 0, 0]");
}

// --- the booking of one who waits ---------------------------------------------------------------

// Its ids count up, so that the tests can name them.
class RlDeparture : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  static constexpr const char* kLine = "RL.ACQUIRE q LEAKY 1/1s CAPACITY 5 TIMEOUT 0";
};

TEST_F(RlDeparture, WhoseBookingIsCancelledIsDeniedAtOnce) {
  const auto first = asking(kLine);
  const auto second = asking(kLine);
  EXPECT_EQ(ask("RL.CANCEL q 2"), "1");
  EXPECT_EQ(heard(*second), "[0, 5, 4, 1, 1000, 0]");
  EXPECT_EQ(second->call({"PING"}), "+PONG\r\n");
  EXPECT_EQ(heard(*first), "");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*first), "[1, 5, 5, 0, 0, 0]");
  EXPECT_EQ(heard(*second), "");
}

// What was booked later keeps the permit, but whoever was cancelled is not granted.
TEST_F(RlDeparture, IsDeniedAlsoWhenNothingIsGivenBack) {
  const auto first = asking(kLine);
  const auto second = asking(kLine);
  EXPECT_EQ(ask("RL.CANCEL q 1"), "0");
  EXPECT_EQ(heard(*first).substr(0, 3), "[0,");
  server_->advance(2 * kSecond);
  EXPECT_EQ(heard(*second).substr(0, 3), "[1,");
}

TEST_F(RlDeparture, ItsLeaseIsGivenBack) {
  const auto waiter =
      asking("RL.ACQUIRE q LEAKY 1/1s CAPACITY 2 CONCURRENCY 3 LEASE 1m TIMEOUT 0 ID a");
  EXPECT_EQ(ask("RL.CANCEL q 1"), "1");  // the id of the lease, too
  EXPECT_EQ(heard(*waiter).substr(0, 3), "[0,");
  EXPECT_EQ(ask("EXISTS q"), "0");
  EXPECT_EQ(ask("RL.RELEASE q 1"), "0");
}

TEST_F(RlDeparture, WhateverTouchesAllKeysLeavesItWaiting) {
  const auto waiter = asking(kLine);
  ask("FLUSHALL");
  ask("SWAPDB 0 1");
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter).substr(0, 3), "[1,");
}

TEST_F(RlDeparture, IsAnsweredOnceWhenItsKeyBecameAPlainString) {
  const auto waiter = asking(kLine);
  ask("RL.RESET q");
  ask("SET q hello");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 5, 4, 0, 1000, 0]");
}

TEST_F(RlDeparture, OfAnotherKeyOrDatabaseIsNotCancelled) {
  const auto waiter = asking(kLine);
  EXPECT_EQ(ask("RL.CANCEL other 1"), "0");
  EXPECT_EQ(ask("SELECT 1"), "OK");
  EXPECT_EQ(ask("RL.CANCEL q 1"), "0");
  EXPECT_EQ(ask("SELECT 0"), "OK");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 5, 5, 0, 0, 0]");
}

TEST_F(RlDeparture, ACancellationThatIsTakenBackLeavesTheWaiterGranted) {
  const auto waiter = asking(kLine);
  server_->disk().faults.append_lost = 1;
  EXPECT_NE(ask("RL.CANCEL q 1").find("MISCONF"), std::string::npos);
  server_->advance(2 * kSecond);
  const std::string heard_of = heard(*waiter);
  // Whatever it is told, it is charged if and only if it is granted.
  EXPECT_EQ(ask("RL.PEEK q LEAKY 1/1s CAPACITY 5 COST 0").substr(0, 8), "[1, 5, 5");
  EXPECT_FALSE(heard_of.empty());
}

}  // namespace
}  // namespace weir::server
