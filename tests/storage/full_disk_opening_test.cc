// A store that is opened on a full disk: the reserve makes room once, and without it what is stored
// can be read.
#include <gtest/gtest.h>

#include "storage/rocks/reserve_file.h"
#include "storage/rocks/rocks_store.h"
#include "tests/storage/small_disk.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

constexpr uint64_t kReserveBytes = 2 << 20;

class FullDiskOpening : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  }

  // Ends as a process does that is killed, and begins anew.
  Status open(uint64_t reserve_bytes = kReserveBytes) {
    driver_.reset();
    driver_ = std::make_unique<StoreDriver>(make_rocks_store({.directory = disk_.path() + "/data",
                                                              .wal_bytes_max = 1 << 20,
                                                              .reserve_bytes = reserve_bytes}));
    return driver_->open();
  }
  // The process dies, and the disk is filled to the last page: closing gives a little back, which
  // a kill does not.
  void die_full() {
    driver_.reset();
    disk_.fill();
  }
  StoreDriver& store() { return *driver_; }
  std::string reserve() const { return disk_.path() + "/data/reserve"; }
  uint64_t reserve_size() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(reserve(), none);
    return none ? 0 : size;
  }
  // Turns 1 to 100, of which 50 are in the state.
  void fill_store() {
    ASSERT_STATUS_OK(store().append(1, 100));
    ASSERT_STATUS_OK(store().write_back({{stored_key("a"), stored_value("1")}}, 50));
  }
  void expect_all_is_read() {
    EXPECT_EQ(store().get(stored_key("a")), stored_value("1"));
    EXPECT_EQ(store().get(stored_key("b")), "absent");
    std::vector<uint64_t> turns;
    ASSERT_STATUS_OK(store().replay(51, &turns));
    EXPECT_EQ(turns, turns_between(51, 100));
  }

  SmallDisk disk_{32};
  std::unique_ptr<StoreDriver> driver_;
};

TEST_F(FullDiskOpening, TheReserveMakesRoomOnce) {
  ASSERT_STATUS_OK(open());
  fill_store();
  EXPECT_EQ(reserve_size(), kReserveBytes);
  EXPECT_FALSE(store().report.gave_up_reserve);
  die_full();
  ASSERT_STATUS_OK(open());
  EXPECT_TRUE(store().report.gave_up_reserve);
  EXPECT_STATUS_OK(store().report.read_only);
  expect_all_is_read();
  EXPECT_STATUS_OK(store().append(101, 110));
  EXPECT_STATUS_OK(store().write_back({{stored_key("b"), stored_value("2")}}, 110));
  EXPECT_EQ(reserve_size(), 0u) << "there is no room for it";
  disk_.make_room();
  EXPECT_STATUS_OK(store().write_back({{stored_key("b"), stored_value("3")}}, 110));
  EXPECT_EQ(reserve_size(), kReserveBytes) << "there is room again";
}

TEST_F(FullDiskOpening, WithoutAReserveEverythingIsReadAndNothingWritten) {
  ASSERT_STATUS_OK(open(0));
  fill_store();
  die_full();
  for (int round = 0; round < 2; ++round) {
    ASSERT_STATUS_OK(open(0));
    EXPECT_TRUE(store().report.read_only.is_no_space()) << store().report.read_only.message();
    EXPECT_EQ(store().report.written_back_turn, 50u);
    expect_all_is_read();
    EXPECT_TRUE(store()->append(101, "x").is_no_space());
    EXPECT_FALSE(store()->sync_now().ok());
    EXPECT_FALSE(store().write_back({{stored_key("b"), stored_value("2")}}, 100).ok());
    EXPECT_FALSE(store().checkpoint(disk_.path() + "/copy").ok());
    expect_all_is_read();
  }
  disk_.make_room();
  ASSERT_STATUS_OK(open(0));
  EXPECT_STATUS_OK(store().report.read_only);
  expect_all_is_read();
  EXPECT_STATUS_OK(store().append(101, 110));
}

TEST_F(FullDiskOpening, ANewDirectoryIsNotBegun) {
  disk_.fill();
  EXPECT_TRUE(open().is_no_space());
}

TEST(ReserveFile, IsMadeWhereThereIsRoom) {
  SmallDisk disk(8);
  if (!disk.mounted()) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  const std::string path = disk.path() + "/reserve";
  const auto keep = [&path](uint64_t bytes) {
    ReserveFile(path, bytes).keep();
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    return none ? 0 : size;
  };
  EXPECT_EQ(keep(1 << 20), 1u << 20);
  EXPECT_EQ(keep(1 << 20), 1u << 20);
  EXPECT_EQ(keep(3 << 20), 0u) << "the disk has less than four times as much";
  EXPECT_EQ(keep(1 << 19), 1u << 19);
  EXPECT_EQ(keep(0), 0u);
  ReserveFile none(path, 0);
  EXPECT_FALSE(none.give_up());
}

}  // namespace
}  // namespace weir::storage
