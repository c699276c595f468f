// What a store on RocksDB tells of its own work and of its disk.
#include <sys/statvfs.h>

#include "storage/rocks/rocks_store.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

TEST(RocksMetrics, TellOfCompactionsAndOfTheDisk) {
  TemporaryDirectory directory;
  const std::string data = directory / "data";
  StoreDriver store(make_rocks_store({.directory = data}));
  ASSERT_STATUS_OK(store.open());
  const StoreMetrics before = store->metrics();
  EXPECT_EQ(before.compactions + before.compactions_running + before.compaction_bytes, 0u);
  struct statvfs disk {};
  ASSERT_EQ(::statvfs(data.c_str(), &disk), 0);
  EXPECT_EQ(before.disk_bytes, disk.f_blocks * disk.f_frsize);
  EXPECT_GT(before.disk_free_bytes, 0u);
  EXPECT_LE(before.disk_free_bytes, before.disk_bytes);
  StoreMetrics after = before;
  const auto is_over = [&] { return after.compactions > 0 && after.compactions_running == 0; };
  for (uint64_t turn = 1; turn <= 5000 && !is_over(); ++turn) {  // ten files of one key are merged
    ASSERT_STATUS_OK(store.append(turn, turn));
    ASSERT_STATUS_OK(
        store.write_back({{stored_key("a"), stored_value(std::to_string(turn))}}, turn));
    after = store->metrics();
  }
  EXPECT_GE(after.compactions, 1u);
  EXPECT_EQ(after.compactions_running, 0u);
  EXPECT_GT(after.compaction_bytes, 0u);
  EXPECT_GT(after.compaction_us, 0u);
  EXPECT_LT(after.unmerged_files, 20u);
  EXPECT_EQ(after.write_stalls, 0u);
}

// Each part of its memory grows by what it names.
TEST(RocksMetrics, TellOfMemory) {
  TemporaryDirectory directory;
  StoreDriver store(make_rocks_store({.directory = directory / "data"}));
  ASSERT_STATUS_OK(store.open());
  const StoreMemory before = store->memory();
  EXPECT_EQ(before.log_queue, 0u);
  constexpr size_t kBodyBytes = 100'000;
  constexpr size_t kKeys = 10'000;
  ASSERT_STATUS_OK(store.append(1, 20, std::string(kBodyBytes, 't')));
  const StoreMemory logged = store->memory();
  EXPECT_GT(logged.memtables, before.memtables + 20 * kBodyBytes);
  EXPECT_EQ(logged.table_readers, before.table_readers);

  StoreDriver::Changes changes;
  for (size_t i = 0; i < kKeys; ++i)
    changes.emplace_back(stored_key(std::to_string(i)), stored_value("value"));
  ASSERT_STATUS_OK(store.write_back(std::move(changes), 20));
  const StoreMemory written = store->memory();
  EXPECT_GT(written.table_readers, logged.table_readers + kKeys);  // ten bits of filter for a key
  EXPECT_LT(written.table_readers, logged.table_readers + 10 * kKeys);
  const auto cursor = store->cursor();
  cursor->seek("");
  while (cursor->valid()) cursor->next();
  EXPECT_GT(store->memory().block_cache, written.block_cache + kKeys);
}

TEST(RocksMetrics, TurnsThatAreForgottenTakeNoMemory) {
  TemporaryDirectory directory;
  StoreDriver store(make_rocks_store({.directory = directory / "data"}));
  ASSERT_STATUS_OK(store.open());
  ASSERT_STATUS_OK(store->forget_turns());
  const uint64_t before = store->memory().memtables;
  constexpr size_t kBodyBytes = 100'000;
  ASSERT_STATUS_OK(store.append(1, 20, std::string(kBodyBytes, 't')));
  EXPECT_LT(store->memory().memtables, before + kBodyBytes);
}

}  // namespace
}  // namespace weir::storage
