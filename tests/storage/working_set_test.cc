#include "storage/memtable/working_set.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "storage/memtable/open_lists.h"

namespace weir::storage {
namespace {

constexpr HashSeed kSeed = {1, 2};

class WorkingSetTotals : public ::testing::Test {
 protected:
  WorkingSetTotals() {
    set_.begin(kSeed, 3);
    for (int database = 0; database < 3; ++database) set_.clear(database);
  }

  void change_at_random() {
    Table* table = set_.table(static_cast<int>(random_() % 3));
    const std::string key = std::to_string(random_() % 2'000);
    const KeyOrder key_order = key_order_of(key, kSeed);
    Entry* entry = table->find(key_order, key);
    if (entry == nullptr) entry = table->insert(key_order, key, 10);
    switch (random_() % 4) {
      case 0:
        if (entry->clean()) table->erase(entry);
        break;
      case 1:
        table->mark_dirty(entry);
        break;
      default:
        table->set_value(entry, std::string(random_() % 200, 'v'), false);
    }
  }

  // Some dirty entries are taken, as for a write-back, and stay.
  void take_some() {
    Table* table = set_.table(static_cast<int>(random_() % 3));
    std::vector<Entry*> taken;
    table->take_dirty(table->segment_at(0), 0, 2'000, &taken);
  }

  void expect_sums() {
    Table::Totals sums;
    for (const auto& table : set_.tables()) {
      sums.bytes += table->bytes();
      sums.dirty_bytes += table->dirty_bytes();
    }
    ASSERT_EQ(set_.bytes(), sums.bytes + set_.index_memory()->bytes);
    ASSERT_EQ(set_.dirty_bytes(), sums.dirty_bytes);
  }

  WorkingSet set_;
  std::mt19937_64 random_{7};
};

TEST_F(WorkingSetTotals, AreTheSumsOfTheTables) {
  for (int i = 0; i < 20'000; ++i) {
    change_at_random();
    if (i % 100 == 0) take_some();
    if (i % 50 == 0) expect_sums();
  }
  EXPECT_GT(set_.dirty_bytes(), 0u);
}

// What is put aside counts no more, whatever becomes of it.
TEST_F(WorkingSetTotals, LeaveOutWhatNoDatabaseNames) {
  for (int i = 0; i < 5'000; ++i) change_at_random();
  set_.clear(1);
  const std::vector<Table*> unused = set_.retire_unused();
  ASSERT_EQ(unused.size(), 1u);
  EXPECT_GT(unused[0]->dirty_bytes(), 0u);
  expect_sums();
  std::vector<Entry*> taken;
  unused[0]->take_dirty(unused[0]->segment_at(0), 0, SIZE_MAX, &taken);
  for (Entry* entry : taken) unused[0]->mark_dirty(entry);
  expect_sums();
  set_.retired().release();
  while (set_.retired().any_released()) set_.retired().destroy(1'000);
  expect_sums();
  set_.forget();
  EXPECT_EQ(set_.bytes(), 0u);
  EXPECT_EQ(set_.dirty_bytes(), 0u);
}

}  // namespace
}  // namespace weir::storage
