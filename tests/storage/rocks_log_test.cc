// The log under endless load: its files go away as turns are written back.
#include <gtest/gtest.h>

#include "storage/wal_manifest.h"
#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

constexpr uint64_t kWalBytes = 1 << 20;

TEST(RocksLog, ItsFilesGoAwayAsTurnsAreWrittenBack) {
  TemporaryDirectory directory;
  const std::string data = directory / "data";
  StoreDriver store(make_rocks_store({.directory = data, .wal_bytes_max = kWalBytes}));
  ASSERT_STATUS_OK(store.open());
  uint64_t largest = 0;
  for (uint64_t turn = 1; turn <= 3000; ++turn) {
    ASSERT_STATUS_OK(store->append(turn, std::string(3000, 't')));
    if (turn % 50 != 0) continue;
    ASSERT_STATUS_OK(store.pass({{stored_key("a"), stored_value(std::to_string(turn))}}, turn));
    largest = std::max(largest, store->figures().log_bytes);
  }
  EXPECT_LE(largest, 2 * kWalBytes);
  store.close();
  EXPECT_LE(wal_files(data).size(), 3u);
  StoreDriver again(make_rocks_store({.directory = data, .wal_bytes_max = kWalBytes}));
  ASSERT_STATUS_OK(again.open());
  EXPECT_EQ(again.report.written_back_turn, 3000u);
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(again.replay(3001, &turns));
  EXPECT_TRUE(turns.empty());
}

// Nothing is written back, so everything stays; the WAL files alone are bounded.
TEST(RocksLog, HoldsWhatIsNotWrittenBack) {
  TemporaryDirectory directory;
  const std::string data = directory / "data";
  StoreDriver store(make_rocks_store({.directory = data, .wal_bytes_max = kWalBytes}));
  ASSERT_STATUS_OK(store.open());
  for (uint64_t turn = 1; turn <= 3000; ++turn) {
    ASSERT_STATUS_OK(store->append(turn, std::string(3000, 't')));
  }
  store.close();
  StoreDriver again(make_rocks_store({.directory = data, .wal_bytes_max = kWalBytes}));
  ASSERT_STATUS_OK(again.open());
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(again.replay(1, &turns));
  EXPECT_EQ(turns, turns_between(1, 3000));
}

// A WAL file that RocksDB is done with means nothing any more, whatever is in it.
TEST(RocksLog, AFileThatIsDoneWithIsNotLookedAt) {
  TemporaryDirectory directory;
  const std::string data = directory / "data";
  std::string old_wal = make_wal(data, 400, std::string(3000, 't'));
  const std::string old_bytes = contents(old_wal);
  {
    StoreDriver store(make_rocks_store({.directory = data, .wal_bytes_max = kWalBytes}));
    ASSERT_STATUS_OK(store.open());
    for (uint64_t turn = 401; turn <= 2000; ++turn) {
      ASSERT_STATUS_OK(store->append(turn, std::string(3000, 't')));
    }
    ASSERT_STATUS_OK(store.pass(StateSlice(), 1990));
  }
  ASSERT_FALSE(file_exists(old_wal));
  uint64_t first_live = 0;
  ASSERT_STATUS_OK(read_first_live_wal(data + "/log", &first_live));
  EXPECT_GT(first_live, 4u);
  // As if a crash had come before its deletion, and a flipped bit before that.
  overwrite(old_wal, flipped(old_bytes, 1000, 1));
  StoreDriver store(make_rocks_store({.directory = data}));
  ASSERT_STATUS_OK(store.open());
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(store.replay(1991, &turns));
  EXPECT_EQ(turns, turns_between(1991, 2000));
}

}  // namespace
}  // namespace weir::storage
