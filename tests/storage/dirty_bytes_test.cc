// What memory owes the disk, and that it is never more than its bound.
#include <gtest/gtest.h>

#include "storage/memtable/elements.h"
#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

constexpr size_t kMb = 1 << 20;

class DirtyBytesTest : public KeyspaceTest {
 protected:
  DirtyBytesTest() {
    options_.memory_bytes_max = 32 * kMb;
    options_.write_back_interval_ns = 1;
    start();
  }
  void put_megabytes(const std::string& key, size_t megabytes) {
    put(0, key, std::string(megabytes * kMb, 'x'));
  }
  void write_back() {
    keys_->work().write_back_now();
    for (int64_t ns = 1; keys_->work().writing_back(); ++ns) keys_->work().step(ns);
  }
};

TEST_F(DirtyBytesTest, IsHalfOfTheMemoryWithinReasonableBounds) {
  EXPECT_EQ(keys_->running().dirty_bytes().bytes_max(), 16 * kMb);
  options_.memory_bytes_max = 1;
  start();
  EXPECT_EQ(keys_->running().dirty_bytes().bytes_max(), 8 * kMb);
  options_.memory_bytes_max = SIZE_MAX;
  start();
  EXPECT_EQ(keys_->running().dirty_bytes().bytes_max(), 1024 * kMb);
}

TEST_F(DirtyBytesTest, GrowsWithTheTurnAndGoesWhenItIsWrittenBack) {
  const size_t before = keys_->running().dirty_bytes().bytes();
  keys();
  put_megabytes("a", 4);
  EXPECT_GE(keys_->running().dirty_bytes().bytes(), before + 4 * kMb);
  ASSERT_TRUE(keys_->commit_turn().ok());
  EXPECT_GE(keys_->running().dirty_bytes().bytes(), before + 4 * kMb);
  EXPECT_EQ(keys_->running().dirty_bytes().turn_bytes(), 0u);
  write_back();
  EXPECT_LT(keys_->running().dirty_bytes().bytes(), kMb);
}

TEST_F(DirtyBytesTest, AChangeBeyondItIsRefusedAndTakesNothing) {
  keys();
  EXPECT_THROW(put_megabytes("a", 17), ChangeRefused);
  EXPECT_EQ(keys_->failure().code(), Status::Code::kTooMuch);
  keys_->running().roll_back();
  EXPECT_FALSE(keys().look_up(0, "a").exists());
  EXPECT_EQ(keys_->running().dirty_bytes().turn_bytes(), 0u);
}

TEST_F(DirtyBytesTest, ACommandThatWouldFitLaterIsToWait) {
  keys();
  put_megabytes("a", 10);
  keys();
  EXPECT_THROW(put_megabytes("b", 10), ChangeRefused);
  EXPECT_EQ(keys_->failure().code(), Status::Code::kBehind);
  keys_->running().roll_back();
  ASSERT_TRUE(keys_->commit_turn().ok());
  keys();
  EXPECT_THROW(put_megabytes("b", 10), ChangeRefused);
  keys_->running().roll_back();
  write_back();
  keys();
  put_megabytes("b", 10);
  EXPECT_TRUE(keys_->failure().ok());
}

TEST_F(DirtyBytesTest, CommandsOfATransactionCountTogether) {
  keys();
  put_megabytes("a", 10);
  keys_->running().begin_next_of_transaction(now_ns_);
  EXPECT_THROW(put_megabytes("b", 10), ChangeRefused);
  EXPECT_EQ(keys_->failure().code(), Status::Code::kTooMuch);
}

TEST_F(DirtyBytesTest, ATransactionGoesBackToASavepoint) {
  keys();
  put(0, "a", "old");
  const TurnInProgress::Savepoint savepoint = keys_->running().savepoint();
  keys_->running().begin_next_of_transaction(now_ns_);
  put(0, "a", "new");
  keys_->running().begin_next_of_transaction(now_ns_);
  put(0, "a", "newest");
  put(0, "b", "1");
  keys_->clear(1);
  keys_->running().roll_back(savepoint);
  keys_->running().begin_next_of_transaction(now_ns_);
  EXPECT_EQ(keys_->look_up(0, "a").value(), "old");
  EXPECT_FALSE(keys_->look_up(0, "b").exists());
  ASSERT_TRUE(keys_->commit_turn().ok());
}

TEST_F(DirtyBytesTest, ElementsAreRefusedBeforeTheirIndexKnowsThem) {
  keys();
  const ElementsId id = keys_->lists().make(0, Layout::kScattered);
  auto list = keys_->lists().open(0, id);
  const std::string value(kMb, 'x');
  size_t stored = 0;
  try {
    while (stored < 100) {
      list->put(std::to_string(stored), stored, value);
      ++stored;
    }
  } catch (const ChangeRefused&) {
  }
  EXPECT_GT(stored, 10u);
  EXPECT_LT(stored, 17u);
  EXPECT_EQ(list->size(), stored);
  keys_->running().roll_back();
}

TEST_F(DirtyBytesTest, CountsADirtyEntryOnceHoweverOftenItsValueGrows) {
  for (size_t i = 1; i <= 20; ++i) {
    keys();
    put(0, "a", std::string(i * 100'000, 'x'));
    ASSERT_TRUE(keys_->commit_turn().ok());
  }
  EXPECT_LT(keys_->running().dirty_bytes().bytes(), 3'000'000u);
  EXPECT_GE(keys_->running().dirty_bytes().bytes(), 2'000'000u);
}

}  // namespace
}  // namespace weir::storage
