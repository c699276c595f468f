// Departures beside the queues: found by their bookings, tried once, counted as queues of one.
#include "server/waiting/departures.h"

#include <gtest/gtest.h>

#include "server/waiting/waiting.h"

namespace weir::server {
namespace {

class Departing final : public Waiter {
 public:
  Departing(uint64_t number, const DepartureName& name) : name_(name) {
    static const Command kCommand;
    session = number;
    command = &kCommand;
  }

  const DepartureName* departs() const override { return &name_; }
  bool try_again(Call&) override { return true; }
  void time_out(Call&) override {}
  size_t own_bytes() const override { return sizeof(*this); }

 private:
  const DepartureName name_;
};

class DeparturesTest : public testing::Test {
 protected:
  void begin(uint64_t session, const DepartureName& name) {
    waiting_.add(std::make_unique<Departing>(session, name));
  }
  // The sessions that are tried now, in their order. None of them is done.
  std::vector<uint64_t> tried() {
    std::vector<uint64_t> sessions;
    waiting_.serve(0, [&](Waiter& waiter, Act) {
      sessions.push_back(waiter.session);
      return false;
    });
    return sessions;
  }
  using Sessions = std::vector<uint64_t>;

  Waiting waiting_;
};

TEST_F(DeparturesTest, AreToldApartByDatabaseKeyAndBooking) {
  begin(1, {0, "k", 7});
  begin(2, {1, "k", 7});
  begin(3, {0, "l", 7});
  begin(4, {0, "k", 8});
  waiting_.signal_departure({0, "k", 8});
  EXPECT_EQ(tried(), Sessions{4});
  waiting_.signal_departure({1, "k", 7});
  waiting_.signal_departure({0, "l", 7});
  EXPECT_EQ(tried(), (Sessions{2, 3}));
  waiting_.signal_departure({1, "l", 7});
  EXPECT_FALSE(waiting_.anybody_ready(0));
}

TEST_F(DeparturesTest, StandInNoQueueOfTheirKey) {
  begin(1, {0, "k", 7});
  EXPECT_TRUE(waiting_.queue(0, "k").empty());
  waiting_.signal(0, "k");
  EXPECT_FALSE(waiting_.anybody_ready(0));
  waiting_.signal_all();
  EXPECT_EQ(tried(), Sessions{1});
}

TEST_F(DeparturesTest, AreTriedOnceForSeveralSignals) {
  begin(1, {0, "k", 7});
  waiting_.signal_departure({0, "k", 7});
  waiting_.signal_departure({0, "k", 7});
  waiting_.signal_all();
  EXPECT_EQ(tried(), Sessions{1});
  waiting_.signal_departure({0, "k", 7});
  EXPECT_EQ(tried(), Sessions{1});
}

TEST_F(DeparturesTest, CountAsQueuesOfOne) {
  EXPECT_EQ(waiting_.longest_queue(), 0u);
  begin(1, {0, "k", 7});
  begin(2, {0, "k", 8});
  EXPECT_EQ(waiting_.queues(), 2u);
  EXPECT_EQ(waiting_.longest_queue(), 1u);
  waiting_.forget(1);
  waiting_.forget(2);
  EXPECT_EQ(waiting_.queues(), 0u);
  EXPECT_EQ(waiting_.longest_queue(), 0u);
}

// Who was superseded is answered later, and must not take the other's place away then.
TEST_F(DeparturesTest, WhoTookOverAPlaceKeepsIt) {
  begin(1, {0, "k", 7});
  Waiter* first = nullptr;
  waiting_.signal_all();
  waiting_.serve(0, [&](Waiter& waiter, Act) {
    first = &waiter;
    return false;
  });
  waiting_.supersede(first);
  EXPECT_EQ(waiting_.queues(), 0u);
  begin(2, {0, "k", 7});
  EXPECT_EQ(tried(), Sessions{1});  // is told so, and gone
  EXPECT_EQ(waiting_.size(), 1u);
  EXPECT_EQ(waiting_.queues(), 1u);
  EXPECT_EQ(waiting_.longest_queue(), 1u);
  waiting_.signal_departure({0, "k", 7});
  EXPECT_EQ(tried(), Sessions{2});
}

TEST_F(DeparturesTest, WhoLeavesBeforeItIsTriedIsNotTried) {
  begin(1, {0, "k", 7});
  waiting_.signal_departure({0, "k", 7});
  waiting_.forget(1);
  begin(2, {0, "k", 7});
  EXPECT_EQ(tried(), Sessions{});
  waiting_.signal_departure({0, "k", 7});
  EXPECT_EQ(tried(), Sessions{2});
}

// Ids are drawn at random, and a key that was reset may draw one anew.
TEST_F(DeparturesTest, ASecondOneOfTheSameNameIsNoneByItsBooking) {
  begin(1, {0, "k", 7});
  begin(2, {0, "k", 7});
  waiting_.signal_departure({0, "k", 7});
  EXPECT_EQ(tried(), Sessions{1});
  waiting_.forget(2);
  waiting_.signal_departure({0, "k", 7});
  EXPECT_EQ(tried(), Sessions{1});
  EXPECT_EQ(waiting_.queues(), 1u);
}

}  // namespace
}  // namespace weir::server
