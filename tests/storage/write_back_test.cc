// A write-back while the table that it walks changes. The memory store ends the process where a
// write-back hands over keys that do not ascend.
#include "storage/memtable/write_back.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/memory/memory_store.h"

namespace weir::storage {
namespace {

class WriteBackTest : public ::testing::Test {
 protected:
  static constexpr size_t kEntries = 1000;  // some more than one segment holds

  WriteBackTest() {
    tables_.push_back(std::make_unique<Table>(7));
    for (size_t i = 0; i < kEntries; ++i) {
      const std::string key = "k" + std::to_string(i);
      Entry* entry = table().insert(key_order_of(key, disk_->seed), key, 1);
      table().set_value(entry, "1", false);
      entry->flags |= Entry::kPresent;
      entries_.push_back(entry);
    }
  }

  Table& table() { return *tables_.front(); }
  void mark_dirty(Entry* entry) {
    table().mark_dirty(entry);
    ++write_back_.dirty;
  }
  size_t step(size_t units = 1) { return write_back_.step(units, 0, end_, tables_, &store_); }
  void finish() {
    for (int i = 0; i < 10'000 && write_back_.running(); ++i) step();
    ASSERT_FALSE(write_back_.running());
    ASSERT_TRUE(write_back_.failure().ok());
  }
  void write_back() {
    write_back_.begin(++end_.turn, 0, {}, &store_);
    end_.logged_turn = end_.turn;
    finish();
  }

  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk({11, 22});
  MemoryStore store_{disk_};
  WriteBack::Tables tables_;
  std::vector<Entry*> entries_;
  WriteBack write_back_;
  LogEnd end_{.turn = 1, .logged_turn = 1};
};

// The segment at which the write-back stands is united with the one before it, which was changed
// again since it was passed.
TEST_F(WriteBackTest, PassesNoEntryTwiceWhenSegmentsAreUnited) {
  const KeyOrder middle = table().segment_at(0)->last() + 1;
  ASSERT_EQ(table().segment_at(middle)->last(), ~KeyOrder{0}) << "more than two segments";
  std::vector<Entry*> lower;
  std::vector<Entry*> upper;
  for (Entry* entry : entries_) (entry->key_order < middle ? lower : upper).push_back(entry);
  mark_dirty(lower.front());
  write_back_.begin(end_.turn, 0, {}, &store_);
  step();
  ASSERT_EQ(write_back_.writing(), 1u);
  // What is left in the lower one is few enough to be united.
  for (size_t i = 10; i < lower.size(); ++i) table().erase(lower[i]);
  for (size_t i = 1; i < upper.size(); ++i) table().erase(upper[i]);
  table().set_value(lower.front(), "2", false);
  mark_dirty(lower.front());
  table().erase(upper.front());
  ASSERT_EQ(table().segment_at(middle)->begin, 0u);
  finish();
  EXPECT_EQ(write_back_.dirty, 1u);
  EXPECT_TRUE(lower.front()->has(Entry::kDirty));
  write_back();
  EXPECT_EQ(write_back_.dirty, 0u);
  EXPECT_EQ(table().dirty(), 0u);
  EXPECT_TRUE(lower.front()->clean());
  ASSERT_EQ(disk_->state->size(), 1u);
  EXPECT_EQ(disk_->state->begin()->second.back(), '2');
}

// A segment of 512 entries may hold gigabytes.
TEST_F(WriteBackTest, AStepEndsWithinASegmentOfLargeEntries) {
  constexpr size_t kUnits = 1000, kValueBytes = 64 << 10;
  const std::string value(kValueBytes, 'v');
  for (Entry* entry : entries_) {
    table().set_value(entry, value, false);
    mark_dirty(entry);
  }
  write_back_.begin(end_.turn, 0, {}, &store_);
  size_t most = 0, steps = 0;
  for (size_t before = 0; write_back_.dirty > 0; before = write_back_.writing_bytes()) {
    const size_t spent = step(kUnits);
    const size_t taken = write_back_.writing_bytes() - before;
    EXPECT_GE(spent, taken / WriteBack::kBytesPerUnit);
    most = std::max(most, taken);
    ASSERT_LE(++steps, kEntries);
  }
  EXPECT_LE(most, kUnits * WriteBack::kBytesPerUnit + 2 * kValueBytes);
  finish();
  EXPECT_EQ(disk_->state->size(), kEntries);
}

// What is made dirty again while the write-back stands within its segment is of the next
// write-back, so that this one ends.
TEST_F(WriteBackTest, AWriteBackEndsThoughItsSegmentIsChangedAgainAndAgain) {
  for (Entry* entry : entries_) mark_dirty(entry);
  write_back_.begin(end_.turn, 0, {}, &store_);
  for (size_t steps = 0; write_back_.running(); ++steps) {
    ASSERT_LE(steps, 4 * kEntries);
    step();
    for (Entry* entry : entries_) {
      if (entry->has(Entry::kWriting) && !entry->has(Entry::kDirty)) mark_dirty(entry);
    }
  }
  EXPECT_EQ(write_back_.dirty, kEntries);
  write_back();
  EXPECT_EQ(write_back_.dirty, 0u);
}

// What a united segment holds from where the write-back stands is of this write-back.
TEST_F(WriteBackTest, TakesTheRestOfAUnitedSegment) {
  const KeyOrder middle = table().segment_at(0)->last() + 1;
  write_back_.begin(end_.turn, 0, {}, &store_);
  step();
  size_t upper = 0;
  for (Entry* entry : entries_) {
    if (entry->key_order < middle || ++upper > 10) {
      table().erase(entry);
    } else {
      mark_dirty(entry);
    }
  }
  ASSERT_EQ(table().segment_at(middle)->begin, 0u);
  finish();
  EXPECT_EQ(disk_->state->size(), 10u);
  EXPECT_EQ(write_back_.dirty, 0u);
}

}  // namespace
}  // namespace weir::storage
