// Turns whose records reach the log later than their end: who waits for them, and what becomes of
// all that when the log does not take them.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class LateAppend : public ::testing::TestWithParam<DurabilityLevel> {
 protected:
  void start(FailurePolicy policy) {
    Config config;
    config.durability = GetParam();
    config.storage_failure_policy = policy;
    server_.emplace(std::move(config));
    for (FakeClient** client : {&writer_, &reader_, &bystander_})
      *client = clients_.emplace_back(server_->connect()).get();
    ASSERT_EQ(writer_->call({"SET", "a", "0"}), kOk);
    while (server_->step_disk()) continue;
    server_->disk().deferred = server_->disk().appends_late = true;
  }
  // The disk does all that it was asked for, and what follows from that.
  void catch_up() {
    while (server_->step_disk()) continue;
    server_->end_turn();
  }

  std::optional<FakeServer> server_;
  std::vector<std::unique_ptr<FakeClient>> clients_;
  FakeClient* writer_ = nullptr;
  FakeClient* reader_ = nullptr;
  FakeClient* bystander_ = nullptr;
};

TEST_P(LateAppend, WhatDependsOnDataWaitsAndNothingElse) {
  start(FailurePolicy::kDeny);
  EXPECT_EQ(writer_->call({"SET", "a", "1"}), "");
  EXPECT_EQ(reader_->call({"GET", "a"}), "");
  EXPECT_EQ(bystander_->call({"PING"}), kPong);
  FakeServer killed({}, server_->disk().after_kill());
  EXPECT_EQ(killed.connect()->call({"GET", "a"}), bulk("0"));
  catch_up();
  EXPECT_EQ(writer_->take(), kOk);
  EXPECT_EQ(reader_->take(), bulk("1"));
  FakeServer restarted({}, server_->disk().after_kill());
  EXPECT_EQ(restarted.connect()->call({"GET", "a"}), bulk("1"));
}

TEST_P(LateAppend, ALogThatTakesNoMoreEndsThoseWhoWait) {
  start(FailurePolicy::kDeny);
  EXPECT_EQ(writer_->call({"SET", "a", "1"}), "");
  EXPECT_EQ(reader_->call({"GET", "a"}), "");
  server_->disk().faults.append_lost = 1;
  catch_up();
  EXPECT_EQ(writer_->take() + reader_->take(), "");
  EXPECT_TRUE(writer_->closed() && reader_->closed());
  EXPECT_TRUE(bystander_->call({"SET", "a", "2"}).starts_with("-MISCONF"));
  server_->disk().deferred = false;
  server_->advance(kSecond + kMs);
  EXPECT_EQ(bystander_->call({"GET", "a"}), bulk("0"));
  EXPECT_EQ(bystander_->call({"SET", "a", "3"}), kOk);
}

// The turn in which the failure shows comes after the ones that failed.
TEST_P(LateAppend, ATurnAfterThoseThatFailedFailsToo) {
  start(FailurePolicy::kDeny);
  EXPECT_EQ(writer_->call({"SET", "a", "1"}), "");
  server_->disk().faults.append_lost = 1;
  bystander_->push(request({"SET", "b", "1"}));
  server_->step_disk();
  server_->end_turn();
  EXPECT_TRUE(bystander_->take().starts_with("-MISCONF"));
  EXPECT_EQ(writer_->take(), "");
  EXPECT_TRUE(writer_->closed());
}

// Memory goes on, and the log has no gap when it takes turns again.
TEST_P(LateAppend, WithThePolicyMemoryNothingIsForgotten) {
  start(FailurePolicy::kMemory);
  EXPECT_EQ(writer_->call({"SET", "a", "1"}), "");
  EXPECT_EQ(reader_->call({"SET", "b", "1"}), "");
  server_->disk().faults.append_lost = 1;
  catch_up();
  EXPECT_EQ(writer_->take() + reader_->take(), kOk + kOk);
  EXPECT_EQ(bystander_->call({"SET", "c", "1"}), kOk);
  server_->disk().deferred = false;
  server_->advance(kSecond + kMs);
  EXPECT_EQ(bystander_->call({"SET", "d", "1"}), kOk);
  FakeServer restarted({}, server_->disk().after_kill());
  EXPECT_EQ(restarted.connect()->call({"MGET", "a", "b", "c", "d"}),
            "*4\r\n" + bulk("1") + bulk("1") + bulk("1") + bulk("1"));
}

INSTANTIATE_TEST_SUITE_P(Levels, LateAppend,
                         ::testing::Values(DurabilityLevel::kNo, DurabilityLevel::kEverysec,
                                           DurabilityLevel::kAlways));

}  // namespace
}  // namespace weir::server
