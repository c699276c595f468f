// A log whose turns are not kept in memory: what is not in the state is in the WAL, and nothing is
// written twice.
#include <gtest/gtest.h>

#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

constexpr uint64_t kForgetfulWalBytes = 1 << 20;
const std::string kBody(3000, 't');

class ForgottenTurnsTest : public testing::Test {
 protected:
  void SetUp() override {
    open();
    ASSERT_STATUS_OK((*store_)->forget_turns());
  }
  void open(const std::string& name = "data") {
    store_.reset();
    store_ = std::make_unique<StoreDriver>(
        make_rocks_store({.directory = directory_ / name, .wal_bytes_max = wal_bytes_max_}));
    ASSERT_STATUS_OK(store_->open());
  }
  void append(uint64_t first, uint64_t last) {
    ASSERT_STATUS_OK(store_->append(first, last, kBody));
  }
  void write_back(uint64_t turn) {
    ASSERT_STATUS_OK(
        store_->write_back({{stored_key("a"), stored_value(std::to_string(turn))}}, turn));
  }
  // The store's worker has done what it was asked for before.
  void settle() { ASSERT_STATUS_OK(store_->checkpoint(directory_ / std::to_string(++copies_))); }
  std::vector<uint64_t> turns(uint64_t first) {
    std::vector<uint64_t> found;
    EXPECT_STATUS_OK(store_->replay(first, &found));
    return found;
  }
  uint64_t log_bytes() { return (*store_)->metrics().log_bytes; }
  size_t tables() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "data/log"))
      count += entry.path().extension() == ".sst";
    return count;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<StoreDriver> store_;
  uint64_t wal_bytes_max_ = kForgetfulWalBytes;
  int copies_ = 0;
};

TEST_F(ForgottenTurnsTest, FilesGoAsTurnsAreWrittenBackAndNothingIsWrittenTwice) {
  uint64_t largest = 0;
  for (uint64_t turn = 1; turn <= 3000; turn += 50) {
    append(turn, turn + 49);
    write_back(turn + 49);
    largest = std::max(largest, log_bytes());
    EXPECT_EQ(tables(), 0u);
  }
  EXPECT_LE(largest, kForgetfulWalBytes);
  open();
  EXPECT_EQ(store_->report.written_back_turn, 3000u);
  EXPECT_TRUE(turns(3001).empty());
}

TEST_F(ForgottenTurnsTest, WhatIsNotWrittenBackIsThere) {
  for (uint64_t turn = 1; turn <= 1500; turn += 300) {
    append(turn, turn + 299);
    settle();
  }
  EXPECT_GT(wal_files(directory_ / "data").size(), 3u);
  EXPECT_EQ(tables(), 0u);
  open();
  EXPECT_EQ(turns(1), turns_between(1, 1500));
}

// Files that were closed before hold turns after the written-back one.
TEST_F(ForgottenTurnsTest, AWriteBackOfSomeGivesBackNoOther) {
  append(1, 900);
  settle();
  write_back(500);
  append(901, 1000);
  settle();
  open();
  EXPECT_EQ(turns(501), turns_between(501, 1000));
}

TEST_F(ForgottenTurnsTest, TurnsFromBeforeTheOpeningStayUntilTheyAreWrittenBack) {
  append(1, 300);
  open();
  EXPECT_EQ(turns(1), turns_between(1, 300));
  ASSERT_STATUS_OK((*store_)->forget_turns());
  append(301, 600);
  write_back(100);
  open();
  EXPECT_EQ(turns(101), turns_between(101, 600));
  ASSERT_STATUS_OK((*store_)->forget_turns());
  append(601, 900);
  write_back(900);
  append(901, 901);
  write_back(901);
  EXPECT_LE(log_bytes(), 2 * kForgetfulWalBytes);
  open();
  EXPECT_EQ(store_->report.last_turn, 901u);
  EXPECT_TRUE(turns(902).empty());
}

// No file is closed between the beginning of a write-back and its end, or it would stay until the
// end of the next one.
TEST_F(ForgottenTurnsTest, AWriteBackGivesBackAllThatWasClosedBeforeIt) {
  for (uint64_t turn = 1; turn <= 1200; turn += 300) {
    append(turn, turn + 299);
    settle();
    StateSlice slice;
    slice.put(stored_key("a"), stored_value("a"));
    (*store_)->add_to_write_back(std::move(slice));
    append(turn + 300, turn + 599);
    turn += 300;
    ASSERT_STATUS_OK(store_->write_back(StateSlice(), turn - 1));
    EXPECT_LE(wal_files(directory_ / "data").size(), 2u);
  }
}

TEST_F(ForgottenTurnsTest, AQuietLogIsCut) {
  wal_bytes_max_ = 64 << 20;
  open();
  ASSERT_STATUS_OK((*store_)->forget_turns());
  append(1, 80);
  write_back(80);
  EXPECT_GT(log_bytes(), 200'000u);
  append(81, 500);  // much less than a file's worth
  write_back(500);
  EXPECT_LT(log_bytes(), 10'000u);
}

// As kill -9 would leave it, at any moment.
TEST_F(ForgottenTurnsTest, ACopyOfTheLogHasAllTurns) {
  append(1, 400);
  write_back(350);
  append(401, 700);
  settle();
  append(701, 750);
  ASSERT_STATUS_OK(store_->checkpoint(directory_ / "copy"));
  open("copy");
  EXPECT_EQ(turns(351), turns_between(351, 750));
}

}  // namespace
}  // namespace weir::storage
