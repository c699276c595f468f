// Clients that wait for lists and sorted sets, on virtual time. Who is served when something comes
// is compared with Redis by tests/differential/waits.py.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class Blocking : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    EXPECT_EQ(heard(*client), "") << line;
    return client;
  }
  std::string metric(std::string_view name) {
    const std::string info = client_->call({"INFO", "clients"});
    const size_t at = info.find(std::string(name) + ":") + name.size() + 1;
    return info.substr(at, info.find('\r', at) - at);
  }
  static std::string id_of(FakeClient& client) { return std::to_string(client.session().id); }
};

TEST_F(Blocking, TakesAtOnceWhatIsThere) {
  ask("RPUSH l a b");
  EXPECT_EQ(ask("BLPOP n l 0"), "[\"l\", \"a\"]");
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
}

TEST_F(Blocking, TimesOutAtTheInstantAndNotBefore) {
  const auto waiter = asking("BLPOP l 1.5");
  EXPECT_EQ((*server_)->next_wait_ns(), 1500 * kMs);
  server_->advance(1500 * kMs - 1);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1);
  EXPECT_EQ(heard(*waiter), "(nil)");
  ask("RPUSH l a");
  EXPECT_EQ(ask("LLEN l"), "1");
}

// Redis counts a wait in milliseconds, and rounds up.
TEST_F(Blocking, APartOfAMillisecondIsOne) {
  const auto waiter = asking("BZPOPMIN z 0.0001");
  EXPECT_EQ((*server_)->next_wait_ns(), 1 * kMs);
}

TEST_F(Blocking, ZeroAndWhatIsBeyondTheClockIsForever) {
  for (const char* timeout : {"0", "-0.0001", "9223372036854775"}) {
    const auto waiter = asking(std::string("BLMOVE a b LEFT LEFT ") + timeout);
    EXPECT_EQ((*server_)->next_wait_ns(), kNotDue) << timeout;
  }
}

TEST_F(Blocking, ShowsInInfoAndInTheClientList) {
  const auto waiter = asking("BLPOP l 0");
  EXPECT_EQ(metric("blocked_clients"), "1");
  EXPECT_NE(ask("CLIENT LIST ID " + id_of(*waiter)).find("flags=b"), std::string::npos);
  ask("RPUSH l a");
  EXPECT_EQ(metric("blocked_clients"), "0");
  EXPECT_EQ(ask("CLIENT LIST ID " + id_of(*waiter)).find("flags=b"), std::string::npos);
}

TEST_F(Blocking, AClientThatIsGoneTakesNothing) {
  const auto waiter = asking("BLPOP l 0");
  waiter->leave();
  ask("RPUSH l a");
  EXPECT_EQ(ask("LLEN l"), "1");
}

// The same reply, whoever ends the wait.
TEST_F(Blocking, UnblockEndsEveryKindOfWait) {
  ask("RL.TAKE q CONCURRENCY 1 LEASE 1m");
  const auto popping = asking("BLPOP l 0");
  const auto acquiring = asking("RL.ACQUIRE q CONCURRENCY 1 LEASE 1m TIMEOUT 0");
  const auto failing = asking("RL.ACQUIRE q CONCURRENCY 1 LEASE 1m TIMEOUT 0");
  EXPECT_EQ(ask("CLIENT UNBLOCK " + id_of(*popping)), "1");
  EXPECT_EQ(ask("CLIENT UNBLOCK " + id_of(*acquiring) + " TIMEOUT"), "1");
  EXPECT_EQ(ask("CLIENT UNBLOCK " + id_of(*failing) + " ERROR"), "1");
  EXPECT_EQ(heard(*popping), "(nil)");
  EXPECT_EQ(heard(*acquiring), "[0, 1, 0, 60000, 60000, 0]");
  EXPECT_EQ(heard(*failing), "(error UNBLOCKED client unblocked via CLIENT UNBLOCK)");
  EXPECT_EQ(ask("CLIENT UNBLOCK " + id_of(*popping)), "0");
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
  EXPECT_EQ(ask("RL.RELEASE q 1"), "1");
  EXPECT_EQ(server::ask(*popping, "PING"), "PONG");
}

TEST_F(Blocking, WhatAWaiterTookIsGoneAfterACrash) {
  auto waiter = asking("BLMOVE a b LEFT RIGHT 0");
  ask("RPUSH a x y");
  EXPECT_EQ(heard(*waiter), "\"x\"");
  waiter = nullptr;
  restart();
  EXPECT_EQ(ask("LRANGE a 0 -1"), "[\"y\"]");
  EXPECT_EQ(ask("LRANGE b 0 -1"), "[\"x\"]");
}

// A push tries one of those that it cannot serve, not all of them.
TEST_F(Blocking, ThousandsWaitForOneKey) {
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 2000; ++i) waiters.push_back(asking("BLPOP l 0"));
  for (int i = 0; i < 2000; ++i) {
    ask("RPUSH l " + std::to_string(i));
    EXPECT_EQ(heard(*waiters[static_cast<size_t>(i)]), "[\"l\", \"" + std::to_string(i) + "\"]");
  }
  EXPECT_EQ(ask("EXISTS l"), "0");
}

}  // namespace
}  // namespace weir::server
