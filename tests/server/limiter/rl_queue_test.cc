// Where the queue of RL.ACQUIRE meets everything else: other commands, IDs, deadlines, expiry,
// policies that change, reads that fail.
#include <random>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlQueue : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  void leave(std::unique_ptr<FakeClient>* client) {
    (*client)->leave();
    client->reset();
    server_->run_turns();
  }
};

constexpr const char* kOnePerSecond = "RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0";

TEST_F(RlQueue, PeekWithoutLimitsComesAfterIt) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("RL.PEEK q"), "[0, 1, 0, 2000, 2000, 0]");
  EXPECT_EQ(ask("RL.TOP"), "[]");  // and it is no denial that counts
}

// Each change of the key has the queue worked out anew, limit by limit, so what may wait has a
// bound.
TEST_F(RlQueue, HasABoundByTheLimitsOfThoseWhoWait) {
  std::string limits;
  for (int i = 1; i <= 16; ++i) limits += " GCRA 1/" + std::to_string(i) + "h BURST 0";
  ask("RL.TAKE k" + limits);
  std::vector<std::unique_ptr<FakeClient>> waiting;
  while (waiting.size() < 10'000 / 16)
    waiting.push_back(asking("RL.ACQUIRE k" + limits + " TIMEOUT 0"));
  for (const auto& client : waiting) EXPECT_EQ(heard(*client), "");
  EXPECT_EQ(ask("RL.ACQUIRE k" + limits + " TIMEOUT 0").substr(0, 9), "[0, 1, 0,");
  leave(&waiting.back());
  waiting.pop_back();
  EXPECT_EQ(heard(*asking("RL.ACQUIRE k" + limits + " TIMEOUT 0")), "");
}

// Whoever joins, is served, leaves or is pushed back: the end of the queue is told as it is then.
TEST_F(RlQueue, ItsEndIsKnownWhateverHappens) {
  std::mt19937 random(7);
  std::vector<std::unique_ptr<FakeClient>> waiting;
  int64_t free_in_s = 1;
  ask(kOnePerSecond);
  for (int step = 0; step < 600; ++step) {
    const unsigned choice = random() % 8;
    if (choice < 4) waiting.push_back(asking(kOnePerSecond));
    if (choice == 4 && !waiting.empty()) {
      const auto at = waiting.begin() + static_cast<std::ptrdiff_t>(random() % waiting.size());
      leave(&*at);
      waiting.erase(at);
    }
    if (choice == 5 && !waiting.empty()) {
      server_->advance(1 * kSecond);
      EXPECT_EQ(heard(*waiting.front()).substr(0, 2), "[1");
      waiting.erase(waiting.begin());
      free_in_s = 1;
    }
    if (choice == 6) {
      ask("RL.TAKE q GCRA 1/1s BURST 0 FORCE");
      ++free_in_s;
    }
    if (choice == 7) {
      ask("PEXPIRE q 3600000");
    }
    const int64_t last_ms = (free_in_s + static_cast<int64_t>(waiting.size())) * 1000;
    const std::string at_ms = std::to_string(last_ms);
    ASSERT_EQ(ask("RL.PEEK q GCRA 1/1s BURST 0"), "[0, 1, 0, " + at_ms + ", " + at_ms + ", 0]")
        << step;
    if (!waiting.empty()) {
      ASSERT_EQ(heard(*waiting.back()), "");
    }
    while (free_in_s > 1) {  // what was forced is waited for
      server_->advance(1 * kSecond);
      --free_in_s;
    }
  }
}

// A timer wakes the server late, each time a little.
TEST_F(RlQueue, ItsEndIsNeverToldMuchTooEarly) {
  const std::string peek = "RL.PEEK q GCRA 1/1s BURST 0";
  ask(kOnePerSecond);
  ask("PEXPIRE q 3600000");
  std::vector<std::unique_ptr<FakeClient>> waiting;
  for (int i = 0; i < 40; ++i) waiting.push_back(asking(kOnePerSecond));
  ask(peek);
  for (int i = 0; i < 20; ++i) {
    server_->advance(1 * kSecond + 2 * kMs);
    EXPECT_EQ(heard(*waiting[static_cast<size_t>(i)]).substr(0, 2), "[1");
  }
  const auto retry_ms = [](const std::string& reply) { return std::stoll(reply.substr(10)); };
  const std::string kept = ask(peek);
  ask("PEXPIRE q 3600000");
  EXPECT_NEAR(retry_ms(kept), retry_ms(ask(peek)), 5) << kept;
}

// Whoever asks is told the limit that decides among all that he named, those in shadow included.
TEST_F(RlQueue, ADenialNamesTheLimitThatDecides) {
  ask("RL.POLICY SET watch FIXED 100/1h SHADOW");
  const std::string limits = " q POLICY watch GCRA 1/10s BURST 0";
  ask("RL.TAKE" + limits);
  EXPECT_EQ(ask("RL.TAKE" + limits), "[0, 1, 0, 10000, 10000, 1]");
  const auto waiter = asking("RL.ACQUIRE" + limits + " TIMEOUT 0");
  EXPECT_EQ(ask("RL.TAKE" + limits), "[0, 1, 0, 20000, 20000, 1]");
}

// The turn of the one in front has come, and nobody has served it yet. A script that waited would
// be answered twice.
TEST_F(RlQueue, AScriptIsDeniedThoughItsTurnHasCome) {
  const auto waits = server_->connect();
  ask("RL.TAKE c 1/10s");
  send(*waits, "RL.ACQUIRE c 1/10s TIMEOUT 0");
  server_->run_turns();
  server_->clock.advance(10 * kSecond);
  EXPECT_EQ(as_text(client_->call({"EVAL",
                                   "return redis.call('RL.ACQUIRE', 'c', 'FIXED', '3/1h', "
                                   "'TIMEOUT', '1s')",
                                   "1", "c"})),
            "[0, 3, 0, 1, 0, 0]");
  EXPECT_EQ(heard(*waits), "[1, 1, 0, 0, 10000, 0]");
}

// The keyspace tells of an entry once in a command, unless somebody has begun to watch it since.
TEST_F(RlQueue, ItsEndIsKnownAfterAScriptHasLookedBetweenTwoChanges) {
  const auto waiter = asking(kOnePerSecond);
  const auto second = asking(kOnePerSecond);
  const std::string take = "redis.call('RL.TAKE', 'q', 'GCRA', '1/1s', 'BURST', '0', 'FORCE') ";
  client_->call({"EVAL", take + "redis.call('RL.PEEK', 'q') " + take, "1", "q"});
  EXPECT_EQ(ask("RL.PEEK q"), "[0, 1, 0, 4000, 4000, 0]");
}

TEST_F(RlQueue, ItsEndIsKnownAfterAScriptThatIsUndoneHasLookedAtIt) {
  const auto waiter = asking(kOnePerSecond);
  const auto second = asking(kOnePerSecond);
  ASSERT_EQ(client_->call({"CONFIG", "SET", "script-memory-max", "4mb"}), "+OK\r\n");
  const auto reply =
      client_->call({"EVAL",
                     "redis.call('RL.TAKE', 'q', 'GCRA', '1/1s', 'BURST', '0', 'FORCE') "
                     "redis.call('RL.PEEK', 'q') local t = {} "
                     "for i = 1, 1000000 do t[i] = string.rep('x', 100) .. i end",
                     "1", "q"});
  ASSERT_EQ(reply.substr(0, 4), "-ERR");
  EXPECT_EQ(ask("RL.PEEK q"), "[0, 1, 0, 2000, 2000, 0]");
}

TEST_F(RlQueue, MtakeComesAfterIt) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("RL.MTAKE 2 q b GCRA 1/1s BURST 0 FIXED 5/1m"),
            "[0, 0, [0, 1, 0, 2000, 2000, 0], [1, 5, 5, 0, 0, 0]]");
  EXPECT_EQ(ask("EXISTS b"), "0");
  EXPECT_EQ(ask("RL.TOP"), "[[\"q\", 1, 0]]");  // one request, one denial
}

TEST_F(RlQueue, ThrottleAfterItIsCountedOnce) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("CL.THROTTLE q 0 1 1"), "[1, 1, 0, 2, 2]");
  EXPECT_EQ(ask("RL.TOP"), "[[\"q\", 1, 0]]");
}

TEST_F(RlQueue, WhatIsGivenBackServesIt) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("CL.THROTTLE q 0 1 1 0"), "[0, 1, 0, -1, 1]");
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(ask("CL.THROTTLE q 0 1 1 -1"), "[0, 1, 1, -1, 0]");
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(ask("RL.TOP"), "[]") << "nobody was denied";
}

TEST_F(RlQueue, UptoAfterItIsToldTheWaitForOne) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/1s BURST 0 COST 9 UPTO"), "[0, 1, 0, 2000, 2000, 0, 0]");
}

TEST_F(RlQueue, CostZeroNeverWaits) {
  ask(kOnePerSecond);
  const auto waiter = asking(kOnePerSecond);
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/1s BURST 0 COST 0 TIMEOUT 0"), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(ask("RL.RESERVE q GCRA 1/1s BURST 0 COST 0").substr(0, 6), "[1, 0,");
}

TEST_F(RlQueue, ABucketThatStartsEmptyFills) {
  const auto waiter = asking("RL.ACQUIRE k TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 TIMEOUT 0");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 5, 0, 0, 5000, 0]");
  EXPECT_EQ(ask("RL.ACQUIRE r TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 TIMEOUT 1").substr(0, 2), "[0");
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.ACQUIRE r TOKENBUCKET 1/1s CAPACITY 5 INITIAL 0 TIMEOUT 1").substr(0, 2), "[1");
}

// All are due at the instant that is their deadline.
TEST_F(RlQueue, WhoIsDueAtTheDeadlineIsServed) {
  ask("RL.TAKE q FIXED 8/1s COST 8");
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 8; ++i) waiters.push_back(asking("RL.ACQUIRE q FIXED 8/1s TIMEOUT 1000"));
  server_->advance(1 * kSecond);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(heard(*waiters[static_cast<size_t>(i)]),
              "[1, 8, " + std::to_string(7 - i) + ", 0, 1000, 0]");
  }
}

TEST_F(RlQueue, AnIdIsTakenOnceAmongWaiters) {
  ask(kOnePerSecond);
  const auto first = asking("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0 ID a");
  const auto again = asking("RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0 ID a");
  const auto other = asking(kOnePerSecond);
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*first).substr(0, 10), "(error ERR");  // the other one waits in its place
  EXPECT_EQ(heard(*again), "[1, 1, 0, 0, 1000, 0]");
  EXPECT_EQ(heard(*other), "");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*other), "[1, 1, 0, 0, 1000, 0]");
}

TEST_F(RlQueue, AnEarlyExpiryServesTheHead) {
  ask("RL.TAKE q FIXED 1/1m");
  const auto waiter = asking("RL.ACQUIRE q FIXED 1/1m TIMEOUT 0");
  ask("PEXPIRE q 100");
  server_->advance(100 * kMs);
  EXPECT_EQ(heard(*waiter), "");
  server_->advance(1 * kMs);
  EXPECT_EQ(heard(*waiter), "[1, 1, 0, 0, 60000, 0]");
  ask("PEXPIRE q 100");
  const auto late = asking("RL.ACQUIRE q FIXED 1/1m TIMEOUT 101");
  server_->advance(101 * kMs);
  EXPECT_EQ(heard(*late), "[1, 1, 0, 0, 60000, 0]");
}

// The second waiter's costs no longer fit the policy; who comes after must not care.
TEST_F(RlQueue, APolicyThatOutgrowsAWaitersCosts) {
  ask("RL.POLICY SET p GCRA 1/1s BURST 1 FIXED 9/1m");
  ask("RL.TAKE q GCRA 1/1s BURST 0");
  const auto first = asking(kOnePerSecond);
  const auto second = asking("RL.ACQUIRE q POLICY p COST 1,2 TIMEOUT 0");
  ask("RL.POLICY SET p GCRA 1/1s BURST 1 FIXED 9/1m FIXED 8/1m");
  const auto third = asking(kOnePerSecond);
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*first).substr(0, 2), "[1");
  EXPECT_EQ(heard(*second),
            "(error ERR COST must be one number, or one for each of the 3 limits, got 2)");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*third).substr(0, 2), "[1");
}

// A funnel beside limits that keep entries: all of them get back what was taken.
TEST_F(RlQueue, AClientThatLeavesTheFunnelGivesBackEverywhere) {
  constexpr const char* kLine =
      "RL.ACQUIRE l LEAKY 1/1s CAPACITY 2 SLIDINGLOG 5/10s CONCURRENCY 3 LEASE 1m TIMEOUT 0";
  auto first = asking(kLine);
  EXPECT_EQ(ask("RL.PEEK l COST 0"), "[1, 2, 1, 0, 1000, 0, (nil)]");
  EXPECT_EQ(ask("RL.PEEK l CONCURRENCY 3 LEASE 1m COST 0").substr(0, 8), "[1, 3, 2");
  leave(&first);
  EXPECT_EQ(ask("EXISTS l"), "0");
}

TEST_F(RlQueue, AFunnelWithALeaseTellsItsId) {
  const auto waiter = asking("RL.ACQUIRE l LEAKY 1/1s CAPACITY 2 CONCURRENCY 3 LEASE 1m TIMEOUT 0");
  server_->advance(1 * kSecond);
  EXPECT_EQ(heard(*waiter), "[1, 2, 2, 0, 0, 0, 1]");
  EXPECT_EQ(ask("RL.RELEASE l 1"), "1");
}

// Killed, but its connection is not closed yet.
TEST_F(RlQueue, NothingIsTakenForAClientThatWasKilled) {
  ask(kOnePerSecond);
  auto waiter = asking(kOnePerSecond);
  const std::string id = std::to_string(waiter->session().id);
  client_->push(request({"CLIENT", "KILL", "ID", id}) + words_as_request("RL.RESET q"));
  server_->run_turns();
  EXPECT_EQ(heard(*client_), "1; 1");
  EXPECT_EQ(ask("EXISTS q"), "0");
}

// One request, one reply: the error, and no grant after it.
TEST_F(RlQueue, AFailedReadEndsTheWait) {
  ask("RL.TAKE q FIXED 1/1h ID x");
  for (int i = 0; i < 10; ++i) server_->advance(kSecond);
  restart();  // so that what it needs has to be read: first the token, then the key
  server_->disk().faults.get = 1;
  const auto waiter = asking("RL.ACQUIRE q FIXED 1/1h TIMEOUT 0 ID a");
  EXPECT_EQ(server_->disk().faults.get, 0u);
  EXPECT_EQ(heard(*waiter).substr(0, 15), "(error MISCONF ");
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
  EXPECT_EQ(ask("RL.RESET q"), "1");
  EXPECT_EQ(heard(*waiter), "");
  EXPECT_EQ(ask("EXISTS q"), "0");
}

}  // namespace
}  // namespace weir::server
