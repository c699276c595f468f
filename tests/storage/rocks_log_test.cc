// The log under endless load: its files go away as turns are written back.
#include "storage/rocks/rocks_log.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "storage/rocks/wal_manifest.h"
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
    ASSERT_STATUS_OK(
        store.write_back({{stored_key("a"), stored_value(std::to_string(turn))}}, turn));
    largest = std::max(largest, store->metrics().log_bytes);
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
    ASSERT_STATUS_OK(store.write_back(StateSlice(), 1990));
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

// A disk that has room in its files, but for no further file.
class FullOfFiles : public rocksdb::FileSystemWrapper {
 public:
  FullOfFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "full of files"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (full) return rocksdb::IOStatus::NoSpace("injected");
    return target()->NewWritableFile(name, options, result, debug);
  }

  std::atomic<bool> full{false};
};

// A log of which turns were dropped, so that its memtable holds a range of deletions.
class FullLogTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_STATUS_OK(open(OpenMode::kCreate)); }
  Status open(OpenMode mode) {
    log_.reset();
    log_ = std::make_unique<RocksLog>();
    RocksLog::Opened opened;
    const Status status =
        log_->open({.directory = directory_.path(), .wal_bytes_max = kWalBytes, .env = env_.get()},
                   directory_ / "log", mode, 0, &opened);
    last_turn_ = opened.last_turn;
    return status;
  }
  Status append() { return log_->append(++last_turn_, std::string(3000, 't')); }
  void append_and_drop() {
    for (int i = 0; i < 20; ++i) ASSERT_STATUS_OK(append());
    log_->drop_up_to(last_turn_ - 10);
    ASSERT_STATUS_OK(append());
  }
  void check_that_a_later_opening_goes_on(uint64_t acknowledged) {
    fs_->full = false;
    ASSERT_STATUS_OK(open(OpenMode::kExisting));
    EXPECT_GE(last_turn_, acknowledged);
    append_and_drop();
    EXPECT_STATUS_OK(log_->rotate());
    EXPECT_STATUS_OK(append());
  }

  TemporaryDirectory directory_;
  const std::shared_ptr<FullOfFiles> fs_ = std::make_shared<FullOfFiles>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(fs_);
  std::unique_ptr<RocksLog> log_;
  uint64_t last_turn_ = 0;
};

// What a power cut may leave: turn 22 lay in a file that nobody had synced, and is gone; a file
// with the turns after it, which nobody had synced either, was written.
TEST_F(FullLogTest, TurnsAfterAHoleAreGivenUp) {
  append_and_drop();
  EXPECT_EQ(last_turn_, 21u);
  ASSERT_STATUS_OK(log_->rotate());  // now they are in a table
  log_.reset();
  const std::string later = directory_ / "log/999999.log";
  {
    TemporaryDirectory other;
    RocksLog log;
    RocksLog::Opened opened;
    ASSERT_STATUS_OK(
        log.open({.directory = other.path()}, other / "log", OpenMode::kCreate, 0, &opened));
    for (uint64_t turn = 23; turn <= 25; ++turn) ASSERT_STATUS_OK(log.append(turn, "t"));
    std::filesystem::copy(other / "log/000004.log", later);
  }
  log_ = std::make_unique<RocksLog>();
  RocksLog::Opened opened;
  ASSERT_STATUS_OK(log_->open({.directory = directory_.path()}, directory_ / "log",
                              OpenMode::kExisting, 11, &opened));
  EXPECT_EQ(opened.last_turn, 21u);
  EXPECT_NE(opened.tail_note.find("999999.log is cut from"), std::string::npos) << opened.tail_note;
  EXPECT_STATUS_OK(log_->append(22, "t"));
}

TEST_F(FullLogTest, ARotationThatFoundNoRoomMayBeAskedForAgain) {
  append_and_drop();
  fs_->full = true;
  EXPECT_EQ(log_->rotate().code(), Status::Code::kFailed);
  EXPECT_EQ(log_->rotate().code(), Status::Code::kFailed);
  const uint64_t acknowledged = last_turn_;
  EXPECT_FALSE(append().ok());
  check_that_a_later_opening_goes_on(acknowledged);
}

TEST_F(FullLogTest, ARotationMayComeAfterAWriteThatFoundNoRoom) {
  append_and_drop();
  fs_->full = true;
  while (append().ok()) ASSERT_LT(last_turn_, 3000u);
  EXPECT_EQ(log_->rotate().code(), Status::Code::kFailed);
  check_that_a_later_opening_goes_on(last_turn_ - 1);
}

}  // namespace
}  // namespace weir::storage
