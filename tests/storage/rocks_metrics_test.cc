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

}  // namespace
}  // namespace weir::storage
