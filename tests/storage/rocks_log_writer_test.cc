// The writer of the log's batches: who writes them, in which order, and what a failure does.
#include "storage/rocks/rocks_log_writer.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include "storage/rocks/rocks_log.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

constexpr std::chrono::seconds kPatience{10};

// Lets through whoever comes while it is open.
class Gate {
 public:
  void close() { set(false); }
  void open() { set(true); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++came_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_until_somebody_came() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return came_ > 0; });
  }

 private:
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int came_ = 0;
};

class RocksLogWriter : public testing::Test {
 protected:
  Status take(uint64_t turn, size_t bytes = 10) {
    rocksdb::WriteBatch batch;
    EXPECT_TRUE(batch.Put(std::to_string(turn), std::string(bytes, 'v')).ok());
    return writer_.write(&batch, turn);
  }

  Gate gate_;
  std::mutex mutex_;
  std::vector<pthread_t> written_by_;
  uint64_t fails_after_ = UINT64_MAX;
  LogWriter writer_{0,
                    [this](rocksdb::WriteBatch*) {
                      gate_.pass();
                      const std::lock_guard lock(mutex_);
                      if (written_by_.size() >= fails_after_) return Status::failed("injected");
                      written_by_.push_back(::pthread_self());
                      return Status();
                    },
                    [] {}};
};

TEST_F(RocksLogWriter, TheCallingThreadWritesWhereNothingHinders) {
  ASSERT_STATUS_OK(take(1));
  EXPECT_EQ(writer_.written_turn(), 1u);
  EXPECT_EQ(written_by_, std::vector{::pthread_self()});
}

TEST_F(RocksLogWriter, WhileSomethingHindersTheCallingThreadDoesNotWait) {
  gate_.close();
  {
    const LogWriter::Aside aside(&writer_);
    ASSERT_STATUS_OK(take(1));
  }
  ASSERT_STATUS_OK(take(2));  // it comes after the first, which still waits
  EXPECT_EQ(writer_.written_turn(), 0u);
  gate_.open();
  ASSERT_STATUS_OK(writer_.wait());
  EXPECT_EQ(writer_.written_turn(), 2u);
  ASSERT_STATUS_OK(take(3));
  ASSERT_EQ(written_by_.size(), 3u);
  EXPECT_EQ(written_by_[0], written_by_[1]);
  EXPECT_NE(written_by_[1], ::pthread_self());
  EXPECT_EQ(written_by_[2], ::pthread_self());
}

TEST_F(RocksLogWriter, NothingIsWrittenAfterAFailure) {
  gate_.close();
  const LogWriter::Aside aside(&writer_);
  fails_after_ = 1;
  for (uint64_t turn = 1; turn <= 3; ++turn) ASSERT_STATUS_OK(take(turn));
  gate_.open();
  EXPECT_EQ(writer_.wait().message(), "injected");
  EXPECT_EQ(writer_.written_turn(), 1u);
  EXPECT_EQ(writer_.failure().message(), "injected");
  EXPECT_EQ(take(4).message(), "injected");
  EXPECT_EQ(written_by_.size(), 1u);
}

TEST_F(RocksLogWriter, AFailureOfTheCallingThreadStays) {
  fails_after_ = 0;
  EXPECT_EQ(take(1).message(), "injected");
  fails_after_ = UINT64_MAX;
  EXPECT_EQ(writer_.failure().message(), "injected");
  EXPECT_EQ(writer_.wait().message(), "injected");
}

TEST_F(RocksLogWriter, TooManyBytesMakeTheCallingThreadWait) {
  gate_.close();
  const LogWriter::Aside aside(&writer_);
  for (uint64_t turn = 1; turn <= 16; ++turn) ASSERT_STATUS_OK(take(turn, 1 << 20));
  WorkerThread other;
  other.post([this] { gate_.open(); });
  ASSERT_STATUS_OK(take(17));  // for ever, if the gate stayed shut
  ASSERT_STATUS_OK(writer_.wait());
  EXPECT_EQ(writer_.written_turn(), 17u);
}

// Who waits for a turn that the calling thread has just written must not sleep: nobody would wake
// it.
TEST(RocksLogWriterThreads, NobodyWaitsForWhatTheCallingThreadHasWritten) {
  LogWriter writer(
      0, [](rocksdb::WriteBatch*) { return Status(); }, [] {});
  std::atomic<bool> ended{false};
  WorkerThread other;
  std::promise<void> gone;
  other.post([&] {
    while (!ended) EXPECT_STATUS_OK(writer.wait());
    gone.set_value();
  });
  uint64_t turn = 0;
  const auto take = [&] {
    rocksdb::WriteBatch batch;
    EXPECT_STATUS_OK(writer.write(&batch, ++turn));
  };
  for (int i = 0; i < 1'000'000; ++i) take();
  ended = true;
  const auto woken = gone.get_future();
  EXPECT_EQ(woken.wait_for(kPatience), std::future_status::ready);
  const LogWriter::Aside aside(&writer);
  take();  // by the other way, which wakes whoever sleeps
  woken.wait();
}

// A file system that holds up syncs of the log, and writes into it.
class SlowFs : public rocksdb::FileSystemWrapper {
 public:
  SlowFs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "slow"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    auto status = target()->NewWritableFile(name, options, &file, debug);
    if (status.ok())
      *result =
          std::make_unique<SlowFile>(name.ends_with(".log") ? &writes : nullptr, std::move(file));
    return status;
  }
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    syncs.pass();
    return target()->NewRandomRWFile(name, options, result, debug);
  }

  Gate syncs;
  Gate writes;

 private:
  class SlowFile : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    SlowFile(Gate* gate, std::unique_ptr<rocksdb::FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)), gate_(gate) {}
    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (gate_ != nullptr) gate_->pass();
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }

   private:
    Gate* gate_;
  };
};

TEST(LateAppendOnRocks, AnAppendDoesNotWaitForASync) {
  TemporaryDirectory directory;
  const auto fs = std::make_shared<SlowFs>();
  const auto env = rocksdb::NewCompositeEnv(fs);
  {
    std::atomic<int> notices{0};
    RocksLog log({}, [&notices] { ++notices; });
    RocksLog::Opened opened;
    ASSERT_STATUS_OK(log.open({.directory = directory.path(), .env = env.get()}, directory / "log",
                              OpenMode::kCreate, 0, &opened));
    ASSERT_STATUS_OK(log.append(1, "one"));
    EXPECT_EQ(log.appended_turn(), 1u);
    fs->syncs.close();
    WorkerThread other;
    Gate synced;
    synced.close();
    other.post([&] {
      EXPECT_STATUS_OK(log.sync());
      synced.open();
    });
    fs->writes.close();
    fs->syncs.wait_until_somebody_came();
    ASSERT_STATUS_OK(log.append(2, "two"));
    EXPECT_EQ(log.appended_turn(), 1u);
    fs->writes.open();
    fs->syncs.open();
    synced.pass();
    EXPECT_EQ(log.synced_turn(), 1u);
    ASSERT_STATUS_OK(log.sync());
    EXPECT_EQ(log.synced_turn(), 2u);
    EXPECT_GE(notices, 1);
  }
  RocksLog log;
  RocksLog::Opened opened;
  ASSERT_STATUS_OK(log.open({.directory = directory.path()}, directory / "log", OpenMode::kExisting,
                            0, &opened));
  EXPECT_EQ(opened.last_turn, 2u);
}

}  // namespace
}  // namespace weir::storage
