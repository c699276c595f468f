// Full disks and I/O errors: nothing aborts, nothing acknowledged is lost, reads go on, and with
// room again everything does.
#include <gtest/gtest.h>

#include "storage/rocks/rocks_store.h"
#include "tests/storage/faulty_fs.h"
#include "tests/storage/small_disk.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

// A disk that can be made to fail, in one of several ways.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::string path() const = 0;
  virtual rocksdb::Env* env() { return nullptr; }
  virtual void fail() = 0;
  virtual void recover() = 0;
};

class FullDisk : public Disk {
 public:
  std::string path() const override { return disk_.path(); }
  void fail() override { disk_.fill(); }
  void recover() override { disk_.make_room(); }
  bool mounted() const { return disk_.mounted(); }

 private:
  SmallDisk disk_{8};
};

class InjectedDisk : public Disk {
 public:
  explicit InjectedDisk(FaultyFs::Fault fault) : fault_(fault) {}
  std::string path() const override { return directory_.path(); }
  rocksdb::Env* env() override { return env_.get(); }
  void fail() override { fs_->fault = fault_; }
  void recover() override { fs_->fault = FaultyFs::Fault::kNone; }

 private:
  const FaultyFs::Fault fault_;
  TemporaryDirectory directory_;
  const std::shared_ptr<FaultyFs> fs_ = std::make_shared<FaultyFs>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(fs_);
};

// Where a tmpfs cannot be mounted, the injected full disk stands for it.
std::unique_ptr<Disk> make_disk(const std::string& kind) {
  if (kind == "FullTmpfs") {
    auto disk = std::make_unique<FullDisk>();
    if (disk->mounted()) return disk;
  }
  return std::make_unique<InjectedDisk>(kind == "IoError" ? FaultyFs::Fault::kIoError
                                                          : FaultyFs::Fault::kNoSpace);
}

class RocksFailureTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_STATUS_OK(open()); }
  Status open() {
    driver_.reset();
    driver_ = std::make_unique<StoreDriver>(make_rocks_store(
        {.directory = disk_->path() + "/data", .wal_bytes_max = 1 << 20, .env = disk_->env()}));
    return driver_->open();
  }
  StoreDriver& store() { return *driver_; }

  // Turns of some KB until one fails; the last that did not.
  uint64_t append_until_failure(uint64_t turn) {
    for (;; ++turn) {
      const Status status = store()->append(turn, std::string(3000, 't'));
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), Status::Code::kFailed) << status.message();
      return turn - 1;
    }
  }

  const std::unique_ptr<Disk> disk_ = make_disk(GetParam());
  std::unique_ptr<StoreDriver> driver_;
};

TEST_P(RocksFailureTest, AppendsFailReadsGoOnAndReopeningFindsEverything) {
  ASSERT_STATUS_OK(store().append(1, 100));
  ASSERT_STATUS_OK(store().write_back({{stored_key("a"), stored_value("1")}}, 50));
  disk_->fail();
  const uint64_t last = append_until_failure(101);
  EXPECT_FALSE(store()->append(last + 1, "x").ok());
  EXPECT_EQ(store().get(stored_key("a")), stored_value("1"));
  EXPECT_EQ(store().get(stored_key("b")), "absent");
  {
    const auto cursor = store()->cursor();
    cursor->seek("");
    EXPECT_TRUE(cursor->valid());
    EXPECT_EQ(cursor->value(), stored_value("1"));
  }
  const Status while_failing = open();
  EXPECT_TRUE(while_failing.ok() || while_failing.code() == Status::Code::kFailed)
      << while_failing.message();

  disk_->recover();
  ASSERT_STATUS_OK(open());
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(store().replay(51, &turns));
  ASSERT_FALSE(turns.empty());
  EXPECT_GE(turns.back(), last) << "acknowledged turns are lost";
  EXPECT_LE(turns.back(), last + 1);
  EXPECT_EQ(turns, turns_between(51, turns.back()));
  EXPECT_STATUS_OK(store().append(turns.back() + 1, turns.back() + 10));
  EXPECT_STATUS_OK(store().write_back({{stored_key("b"), stored_value("2")}}, turns.back() + 10));
}

TEST_P(RocksFailureTest, AFailedWriteBackLeavesNothingAndALaterOneWorks) {
  ASSERT_STATUS_OK(store().append(1, 10));
  ASSERT_STATUS_OK(store().write_back({{stored_key("a"), stored_value("1")}}, 5));
  StoreDriver::Changes changes;
  for (int i = 0; i < 5000; ++i) {
    changes.emplace_back(stored_key(std::to_string(i)), stored_value(std::string(100, 'v')));
  }
  for (int round = 0; round < 3; ++round) {
    disk_->fail();
    const Status status = store().write_back(changes, 10);
    EXPECT_EQ(status.code(), Status::Code::kFailed) << status.message();
    EXPECT_EQ(store().get(stored_key("7")), "absent");
    EXPECT_EQ(store().get(stored_key("a")), stored_value("1"));
    disk_->recover();
  }
  ASSERT_STATUS_OK(open());
  EXPECT_EQ(store().report.written_back_turn, 5u);
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(store().replay(6, &turns));
  EXPECT_EQ(turns, turns_between(6, 10));
  ASSERT_STATUS_OK(store().write_back(changes, 10));
  EXPECT_EQ(store().get(stored_key("7")), stored_value(std::string(100, 'v')));
}

TEST_P(RocksFailureTest, AProbeTellsWhetherThereIsRoom) {
  if (disk_->env() != nullptr) return;  // the probe does not go through RocksDB
  EXPECT_STATUS_OK(store()->probe());
  disk_->fail();
  EXPECT_FALSE(store()->probe().ok());
  disk_->recover();
  EXPECT_STATUS_OK(store()->probe());
}

TEST_P(RocksFailureTest, AFailedCheckpointLeavesNothing) {
  ASSERT_STATUS_OK(store().append(1, 10));
  disk_->fail();
  const std::string path = disk_->path() + "/copy";
  EXPECT_FALSE(store().checkpoint(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  disk_->recover();
  ASSERT_STATUS_OK(open());
  EXPECT_STATUS_OK(store().checkpoint(path));
  EXPECT_FALSE(store().checkpoint(path).ok()) << "never over something";
}

INSTANTIATE_TEST_SUITE_P(Kinds, RocksFailureTest,
                         testing::Values("FullTmpfs", "NoSpace", "IoError"),
                         [](const auto& info) { return info.param; });

// Nothing but appends and write-backs until a small disk holds no more, again and again.
TEST(RocksSmallDisk, LivesInEightMegabytes) {
  SmallDisk disk(8);
  if (!disk.mounted()) return;
  uint64_t turn = 0;
  for (int round = 0; round < 3; ++round) {
    StoreDriver store(
        make_rocks_store({.directory = disk.path() + "/data", .wal_bytes_max = 1 << 20}));
    ASSERT_STATUS_OK(store.open());
    ASSERT_STATUS_OK(
        store->replay(store.report.written_back_turn + 1, [&](uint64_t replayed, std::string_view) {
          turn = replayed;
          return Status();
        }));
    for (int i = 0; i < 3000; ++i) {
      ASSERT_STATUS_OK(store->append(++turn, std::string(3000, 't')));
      if (i % 50 == 0) {
        ASSERT_STATUS_OK(
            store.write_back({{stored_key("a"), stored_value(std::to_string(i))}}, turn));
      }
    }
  }
}

}  // namespace
}  // namespace weir::storage
