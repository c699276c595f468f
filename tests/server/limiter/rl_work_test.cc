// What single requests of limiters cost where a key holds much: counted in what they read, not in
// time, and the answers are those of reading everything.
#include <map>
#include <random>

#include "server/limiter/later/bookings.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlWork : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  // Each take has an instant of its own, so each makes an entry.
  void fill(const std::string& line, int count) {
    for (int i = 0; i < count; ++i) {
      server_->clock.advance(kMs);
      ASSERT_EQ(ask(line).substr(0, 2), "[1");
    }
  }
  uint64_t entries_read_by(std::string_view line) {
    const uint64_t before = (*server_)->work().units();
    ask(line);
    return (*server_)->work().units() - before;
  }
  uint64_t bookings_read_by(std::string_view line) {
    const uint64_t before = bookings_read();
    ask(line);
    return bookings_read() - before;
  }
};

constexpr uint64_t kFew = 500;  // some times the logarithm, of reads and searches; the log has 3000

TEST_F(RlWork, ALookAtAQueuesEndReadsFewEntriesOfALog) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  const auto waiter = asking("RL.ACQUIRE k " + limits + " TIMEOUT 0");
  for (int i = 0; i < 5; ++i) {
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits), kFew);
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits + " COST 2000"), kFew);
    EXPECT_LT(entries_read_by("RL.PEEK k " + limits), kFew);
  }
}

TEST_F(RlWork, AlsoAfterTheKeyWasTouched) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  const auto waiter = asking("RL.ACQUIRE k " + limits + " TIMEOUT 0");
  for (int i = 0; i < 5; ++i) {
    ask("PEXPIRE k 3600000");
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits), kFew);
  }
}

TEST_F(RlWork, AnotherOneJoinsAQueueForFewEntries) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 20; ++i) {
    const uint64_t before = (*server_)->work().units();
    waiters.push_back(asking("RL.ACQUIRE k " + limits + " TIMEOUT 0"));
    EXPECT_LT((*server_)->work().units() - before, 3 * kFew) << i;
  }
}

TEST_F(RlWork, WhoLeavesAQueueAndWhoJoinsItDoNotPayForAllWhoWait) {
  const std::string limits = "GCRA 1/1h BURST 0 GCRA 1/2h BURST 0";
  ask("RL.TAKE k " + limits);
  std::vector<std::unique_ptr<FakeClient>> waiters;
  const auto units_of = [&](const auto& work) {
    const uint64_t before = (*server_)->work().units();
    work();
    return (*server_)->work().units() - before;
  };
  const auto join = [&] { waiters.push_back(asking("RL.ACQUIRE k " + limits + " TIMEOUT 0")); };
  for (int i = 0; i < 1000; ++i) EXPECT_LT(units_of(join), 100u) << i;
  for (int i = 0; i < 20; ++i) {
    const auto leaving = waiters.begin() + 500 - i;
    EXPECT_LT(units_of([&] {
                (*leaving)->leave();
                server_->run_turns();
              }),
              100u);
    waiters.erase(leaving);
  }
  EXPECT_GT(entries_read_by("RL.PEEK k " + limits), 1000u);  // once, for all who have left
  EXPECT_LT(entries_read_by("RL.PEEK k " + limits), 100u);
  EXPECT_LT(units_of(join), 100u);
  server_->advance(7200 * kSecond);
  EXPECT_EQ(heard(*waiters.front()).substr(0, 2), "[1");  // as it was foreseen
  EXPECT_LT(entries_read_by("RL.PEEK k " + limits), 100u);
}

TEST_F(RlWork, ACancellationReadsFewBookings) {
  const std::string limits = " GCRA 1/1s BURST 0 GCRA 1/2s BURST 0";
  for (int i = 0; i < 1000; ++i) ask("RL.RESERVE k" + limits);
  ask("RL.CANCEL k 900");  // the first one after a start reads all instants
  EXPECT_LT(bookings_read_by("RL.CANCEL k 2"), 5u);
  EXPECT_LT(bookings_read_by("RL.CANCEL k 500"), 5u);
  for (int id = 1000; id > 950; --id) {
    EXPECT_LT(bookings_read_by("RL.CANCEL k " + std::to_string(id)), 5u);
  }
  EXPECT_EQ(ask("RL.RESERVE k" + limits).substr(0, 2), "[1");
  EXPECT_LT(bookings_read_by("RL.CANCEL k 1001"), 5u);
}

// The turn of the cancellation fails, so its booking is there again, and what was booked before it
// owes it.
TEST_F(RlWork, ACancellationThatIsTakenBackIsNotRemembered) {
  const std::string limits = " TOKENBUCKET 1/1s CAPACITY 10 ";
  ask("RL.TAKE k" + limits + "COST 10");
  EXPECT_EQ(ask("RL.RESERVE k" + limits + "COST 5"), "[1, 5000, 1]");
  EXPECT_EQ(ask("RL.RESERVE k" + limits + "COST 3"), "[1, 8000, 2]");
  server_->disk().faults.append_lost = 1;
  EXPECT_NE(ask("RL.CANCEL k 2").find("MISCONF"), std::string::npos);
  server_->advance(1 * kSecond);
  EXPECT_EQ(ask("RL.CANCEL k 1"), "2");
  EXPECT_EQ(ask("RL.CANCEL k 2"), "3");
}

// Bookings of random costs are cancelled in random order while time passes: each is given back less
// the costs of those made later that are neither due nor cancelled.
TEST_F(RlWork, ACancellationGivesBackWhatAWholeLookWould) {
  struct Model {
    int64_t cost;
    int64_t due_ms;
  };
  std::mt19937 random(7);
  std::map<int64_t, Model> bookings;  // by id, which counts up here
  int64_t now_ms = 0;
  for (int step = 0; step < 2000; ++step) {
    const auto roll = random() % 10;
    if (roll < 6) {
      const int64_t cost = 1 + static_cast<int64_t>(random() % (random() % 4 == 0 ? 40 : 3));
      const std::string reply =
          ask("RL.RESERVE k GCRA 100/1s BURST 50 COST " + std::to_string(cost));
      int wait_ms = 0;
      int id = 0;
      ASSERT_EQ(std::sscanf(reply.c_str(), "[1, %d, %d]", &wait_ms, &id), 2) << reply;
      if (wait_ms > 0) bookings[id] = {cost, now_ms + wait_ms};
    } else if (roll < 9 && !bookings.empty()) {
      auto cancelled = bookings.begin();
      std::advance(cancelled, random() % bookings.size());
      int64_t later = 0;
      for (auto other = std::next(cancelled); other != bookings.end(); ++other) {
        if (other->second.due_ms > now_ms) later += other->second.cost;
      }
      const bool due = cancelled->second.due_ms <= now_ms;
      const int64_t given = due ? 0 : std::max<int64_t>(cancelled->second.cost - later, 0);
      ASSERT_EQ(ask("RL.CANCEL k " + std::to_string(cancelled->first)), std::to_string(given));
      bookings.erase(cancelled);
    } else {
      server_->clock.advance(20 * kMs);
      now_ms += 20;
    }
  }
}

}  // namespace
}  // namespace weir::server
