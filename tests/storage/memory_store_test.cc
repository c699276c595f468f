// The faults and the crashes of the memory store.
#include "storage/memory/memory_store.h"

#include <gtest/gtest.h>

#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

class MemoryStoreTest : public testing::Test {
 protected:
  void SetUp() override { open(disk); }
  void open(std::shared_ptr<MemoryDisk> on) {
    disk = std::move(on);
    driver = std::make_unique<StoreDriver>(std::make_unique<MemoryStore>(disk));
    ASSERT_STATUS_OK(driver->open());
  }
  std::vector<uint64_t> replayed(uint64_t first = 1) {
    std::vector<uint64_t> turns;
    EXPECT_STATUS_OK(driver->replay(first, &turns));
    return turns;
  }

  std::shared_ptr<MemoryDisk> disk = make_memory_disk({1, 2});
  std::unique_ptr<StoreDriver> driver;
};

TEST_F(MemoryStoreTest, AFailedAppendMayHaveWrittenAndStopsTheLog) {
  for (const bool kept : {false, true}) {
    open(make_memory_disk({1, 2}));
    (kept ? disk->faults.append_kept : disk->faults.append_lost) = 3;
    EXPECT_STATUS_OK(driver->append(1, 2));
    EXPECT_FALSE(driver->append(3, 3).ok());
    EXPECT_FALSE(driver->append(3, 3).ok());
    EXPECT_FALSE(driver->append(4, 4).ok());
    open(disk);
    EXPECT_EQ(replayed(), turns_between(1, kept ? 3 : 2));
    EXPECT_STATUS_OK(driver->append(kept ? 4 : 3, 5));
  }
}

TEST_F(MemoryStoreTest, APowerCutLosesWhatWasNotSynced) {
  ASSERT_STATUS_OK(driver->append(1, 5));
  ASSERT_STATUS_OK(driver->sync());
  ASSERT_STATUS_OK(driver->append(6, 9));
  const auto killed = disk->after_kill();
  const auto cut = disk->after_power_cut({});
  const auto torn = disk->after_power_cut({.unsynced_turns_kept = 2, .torn = true});
  open(killed);
  EXPECT_EQ(replayed(), turns_between(1, 9));
  open(cut);
  EXPECT_EQ(replayed(), turns_between(1, 5));
  EXPECT_EQ(driver->report.tail_note, "");
  open(torn);
  EXPECT_EQ(replayed(), turns_between(1, 7));
  EXPECT_EQ(driver->report.tail_note, "half a turn follows turn 7");
  open(torn);
  EXPECT_EQ(driver->report.tail_note, "") << "told once";
}

TEST_F(MemoryStoreTest, AFailedWriteBackLeavesNothing) {
  ASSERT_STATUS_OK(driver->append(1, 2));
  disk->faults.write_back = 1;
  EXPECT_FALSE(driver->write_back({{stored_key("a"), stored_value("1")}}, 2).ok());
  EXPECT_EQ(driver->get(stored_key("a")), "absent");
  EXPECT_EQ(disk->written_back_turn, 0u);
  EXPECT_STATUS_OK(driver->write_back({{stored_key("b"), stored_value("1")}}, 2));
  EXPECT_EQ(driver->get(stored_key("a")), "absent");
  EXPECT_EQ(driver->get(stored_key("b")), stored_value("1"));
}

TEST_F(MemoryStoreTest, AFailedReadIsNotAbsence) {
  disk->faults.get = 1;
  EXPECT_EQ(driver->get(stored_key("a")), "failed: injected failure of a read");
  EXPECT_EQ(driver->get(stored_key("a")), "absent");
  ASSERT_STATUS_OK(driver->write_back({{stored_key("a"), stored_value("1")}}, 0));
  disk->faults.cursor = 1;
  const auto cursor = (*driver)->cursor();
  cursor->seek("");
  EXPECT_FALSE(cursor->valid());
  EXPECT_FALSE(cursor->status().ok());
}

TEST_F(MemoryStoreTest, AFullDiskTakesNothingUntilThereIsRoom) {
  disk->faults.disk_full = true;
  EXPECT_FALSE(driver->append(1, 1).ok());
  EXPECT_FALSE(driver->write_back(StateSlice(), 0).ok());
  EXPECT_FALSE(driver->checkpoint("copy").ok());
  EXPECT_FALSE((*driver)->probe().ok());
  disk->faults.disk_full = false;
  EXPECT_STATUS_OK((*driver)->probe());
  open(disk);
  EXPECT_STATUS_OK(driver->append(1, 1));
}

TEST_F(MemoryStoreTest, DeferredWorkWaitsForAStep) {
  disk->deferred = true;
  MemoryStore store(disk);
  OpenReport report;
  ASSERT_STATUS_OK(store.open(&report));
  int told = 0;
  store.set_notify([&] { ++told; });
  ASSERT_STATUS_OK(store.append(1, "x"));
  store.start_sync();
  EXPECT_TRUE(store.sync_state().running);
  EXPECT_EQ(store.sync_state().synced_turn, 0u);
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(store.step());
  EXPECT_FALSE(store.sync_state().running);
  EXPECT_EQ(store.sync_state().synced_turn, 1u);
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(store.step());
}

TEST_F(MemoryStoreTest, DropsWhatExpiredBeforeTheWriteBack) {
  ASSERT_STATUS_OK(driver->write_back({{stored_key("a"), stored_value("1", 1000)},
                                       {stored_key("b"), stored_value("1", 2000)},
                                       {stored_key("c"), stored_value("1")}},
                                      0, 1'000'000'000));
  EXPECT_EQ(driver->get(stored_key("a")), stored_value("1", 1000)) << "not before, but at";
  ASSERT_STATUS_OK(driver->write_back(StateSlice(), 0, 1'001'000'000));
  EXPECT_EQ(driver->get(stored_key("a")), "absent");
  EXPECT_EQ(driver->get(stored_key("b")), stored_value("1", 2000));
  EXPECT_EQ(driver->get(stored_key("c")), stored_value("1"));
  EXPECT_EQ((*driver)->metrics().records_dropped, 1u);
}

}  // namespace
}  // namespace weir::storage
