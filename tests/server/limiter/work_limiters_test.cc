// What commands of limiters walk is charged: bookings, queues, policies, the heaviest keys.
#include <gtest/gtest.h>

#include "server/limiter/later/bookings.h"
#include "tests/server/work_fixture.h"

namespace weir::server {
namespace {

constexpr uint64_t kMany = 3000;

class LimitersWork : public WorkBudget {
 protected:
  // One pipeline; what comes back is of no interest.
  void repeat(const std::vector<std::string>& words, uint64_t times) {
    std::string pipeline;
    for (uint64_t i = 0; i < times; ++i) pipeline += request_of(words);
    client_->send(pipeline);
  }
  uint64_t cost(std::initializer_list<std::string_view> words) {
    return cost_of(*client_, request(words));
  }
  std::unique_ptr<FakeClient> asking(std::initializer_list<std::string_view> words) {
    auto client = server_.connect();
    client->push(request(words));
    server_.run_turns();
    return client;
  }

  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(LimitersWork, ACancellationIsChargedTheBookingsThatItReads) {
  client_->call({"RL.RESERVE", "k", "TOKENBUCKET", "1/1s", "CAPACITY", "100000", "COST", "100000"});
  client_->call({"RL.RESERVE", "k", "TOKENBUCKET", "1/1s", "CAPACITY", "100000", "COST", "100000"});
  repeat({"RL.RESERVE", "k", "TOKENBUCKET", "1/1s", "CAPACITY", "100000"}, kMany);
  const uint64_t before = bookings_read();
  const uint64_t units = cost({"RL.CANCEL", "k", "2"});  // reads their ages, and adds them up
  EXPECT_GE(bookings_read() - before, 2 * kMany);
  EXPECT_GE(units, 2 * (bookings_read() - before - 1));
  const uint64_t before_last = bookings_read();
  const uint64_t units_of_last = cost({"RL.CANCEL", "k", std::to_string(kMany + 2)});
  EXPECT_LE(bookings_read() - before_last, 2u);
  EXPECT_LE(units_of_last, 40u);
}

TEST_F(LimitersWork, AReservationIsChargedTheBookingsThatItForgets) {
  const std::vector<std::string> reserve = {"RL.RESERVE", "k",        "TOKENBUCKET",
                                            "1000/1s",    "CAPACITY", "1000"};
  repeat(reserve, kMany);
  server_.clock.advance(1500 * kMs);
  EXPECT_GE(cost_of(*client_, request_of(reserve)), 64u);
}

TEST_F(LimitersWork, TheHeaviestKeysAreCharged) {
  client_->call({"CONFIG", "SET", "top-keys", std::to_string(kMany)});
  for (uint64_t i = 0; i < kMany; ++i) {
    client_->push(request({"RL.TAKE", "k" + std::to_string(i), "GCRA", "1/1s"}));
  }
  EXPECT_GE(cost({"RL.TOP", "TAKEN", "COUNT", "1"}), kMany);
}

TEST_F(LimitersWork, PoliciesAreCharged) {
  std::string pipeline;
  for (uint64_t i = 0; i < kMany; ++i) {
    pipeline += request({"RL.POLICY", "SET", "p" + std::to_string(i), "GCRA", "1/1s"});
  }
  client_->send(pipeline);
  EXPECT_GE(cost({"RL.POLICY", "LIST"}), kMany);
  EXPECT_GE(cost({"RL.POLICY", "SET", "p1", "GCRA", "2/1s"}), kMany);
  EXPECT_LE(cost({"RL.POLICY", "GET", "p1"}), 20u);
}

TEST_F(LimitersWork, ASimulatedQueueIsCharged) {
  client_->call({"RL.TAKE", "k", "GCRA", "1/1s"});
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 200; ++i) {
    waiters.push_back(asking({"RL.ACQUIRE", "k", "GCRA", "1/1s", "TIMEOUT", "0"}));
  }
  EXPECT_LE(cost({"RL.PEEK", "k", "GCRA", "1/1s"}), 40u);
  // One leaves the middle, so the end is not known any more.
  waiters[100]->leave();
  server_.run_turns();
  EXPECT_GE(cost({"RL.PEEK", "k", "GCRA", "1/1s"}), 199u);
}

// Those who wait for something else at the key stand in the same queue, and are passed over.
TEST_F(LimitersWork, WhoStandsInAQueueIsCharged) {
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 200; ++i) waiters.push_back(asking({"BLPOP", "k", "0"}));
  EXPECT_GE(cost({"RL.TAKE", "k", "GCRA", "1/1s"}), 200u);
  EXPECT_GE(cost({"RL.PEEK", "k", "GCRA", "1/1s"}), 200u);
}

TEST_F(LimitersWork, EntriesOfALogAreCharged) {
  for (int i = 0; i < 1000; ++i) {
    server_.clock.advance(kMs);
    client_->call({"RL.TAKE", "k", "SLIDINGLOG", "1000/1h"});
  }
  EXPECT_GE(cost({"RL.TAKE", "k", "SLIDINGLOG", "1000/1h", "COST", "500"}), 10u);
}

}  // namespace
}  // namespace weir::server
