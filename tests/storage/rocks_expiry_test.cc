// Expired records leave the disk by themselves: compaction as it happens, a fake clock, no
// CompactRange.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/system_clock.h>

#include <atomic>

#include "storage/rocks/rocks_store.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

constexpr int64_t kStart_s = 1'700'000'000;
constexpr int64_t kInterval_s = 3600;

class FakeClock : public rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "fake"; }
  rocksdb::Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = now_s;
    return rocksdb::Status::OK();
  }
  std::atomic<int64_t> now_s{kStart_s};
};

class FakeClockEnv : public rocksdb::EnvWrapper {
 public:
  FakeClockEnv()
      : EnvWrapper(rocksdb::Env::Default()),
        clock(std::make_shared<FakeClock>(rocksdb::SystemClock::Default())) {
    system_clock_ = clock;
  }
  std::shared_ptr<FakeClock> clock;
};

class RocksExpiryTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    driver_.reset();
    driver_ = std::make_unique<StoreDriver>(
        make_rocks_store({.directory = directory_ / "data",
                          .expired_compaction_interval_s = kInterval_s,
                          .env = &env_}));
    ASSERT_STATUS_OK(driver_->open());
  }
  StoreDriver& store() { return *driver_; }

  // `limiters` that expire ten seconds from now and one in a hundred that does not.
  void write(int limiters, int rounds, size_t payload_bytes = 24) {
    const int64_t now_s = env_.clock->now_s;
    for (int round = 0; round < rounds; ++round) {
      StoreDriver::Changes changes;
      for (int i = round; i < limiters; i += rounds) {
        const std::string name = "limiter:" + std::to_string(i);
        const int64_t expire_at_ms = i % 100 == 0 ? 0 : (now_s + 10) * 1000;
        changes.emplace_back(
            stored_key(name),
            stored_value(std::string(payload_bytes, static_cast<char>(i)), expire_at_ms));
      }
      ASSERT_STATUS_OK(store().write_back(std::move(changes), 0, now_s * 1'000'000'000));
    }
  }

  // What an idle server does: time goes by, and empty write-backs with it. Once the clock has
  // reached the end it stands still, and write-backs only give the compaction time to end.
  bool shrinks_to(uint64_t bytes, int64_t within_s) {
    const int64_t end_s = env_.clock->now_s + within_s;
    for (int round = 0; round < 2000; ++round) {
      if (env_.clock->now_s < end_s) env_.clock->now_s += 60;
      const int64_t now_ns = env_.clock->now_s * 1'000'000'000;
      EXPECT_STATUS_OK(store().write_back(StateSlice(), 0, now_ns));
      if (store()->metrics().state_bytes < bytes) return true;
    }
    return false;
  }

  TemporaryDirectory directory_;
  FakeClockEnv env_;
  std::unique_ptr<StoreDriver> driver_;
};

TEST_F(RocksExpiryTest, AMillionExpiredLimitersLeaveTheDisk) {
  // Several files, so that most of them are not touched by what an idle server writes.
  write(1'000'000, 10, 100);
  const uint64_t before = store()->metrics().state_bytes;
  EXPECT_GT(before, 100u << 20);
  // All of it sinks before any of it expires: what is written later does not overlap it.
  // Write-backs wait for compactions, so enough of them see the sinking through.
  for (int i = 0; i < 60; ++i) {
    ASSERT_STATUS_OK(store().write_back(StateSlice(), 0, kStart_s * 1'000'000'000));
  }
  ASSERT_EQ(store()->metrics().records_dropped, 0u);
  EXPECT_TRUE(shrinks_to(before / 40, 3 * kInterval_s)) << store()->metrics().state_bytes;
  EXPECT_GE(store()->metrics().records_dropped, 990'000u);
  const std::string kept = "limiter:100";
  EXPECT_TRUE(store().get(stored_key(kept)).starts_with(stored_value("", 0)));
  EXPECT_EQ(store().get(stored_key("limiter:101")), "absent");
}

TEST_F(RocksExpiryTest, TheGcWatermarkSurvivesARestart) {
  write(20'000, 3);
  const uint64_t before = store()->metrics().state_bytes;
  // The last write-back before the restart puts the GC watermark after the expiry, and writes
  // something.
  env_.clock->now_s += 60;
  ASSERT_STATUS_OK(store().write_back(StateSlice(), 0, env_.clock->now_s * 1'000'000'000));
  open();
  EXPECT_TRUE(shrinks_to(before / 20, 3 * kInterval_s)) << store()->metrics().state_bytes;
}

// The wall clock is far past their expiry, but no turn of that time was written back.
TEST_F(RocksExpiryTest, NothingIsDroppedBeforeTheWriteBackThatSaysSo) {
  const int64_t now_ns = kStart_s * 1'000'000'000;
  write(2'000, 1);
  for (int i = 0; i < 60; ++i) {
    env_.clock->now_s += kInterval_s / 4;
    ASSERT_STATUS_OK(store().write_back(StateSlice(), 0, now_ns));
  }
  EXPECT_EQ(store()->metrics().records_dropped, 0u);
  EXPECT_NE(store().get(stored_key("limiter:101")), "absent");
}

TEST_F(RocksExpiryTest, ADroppedRecordDoesNotReviveAnOlderOne) {
  const std::string key = stored_key("k");
  const int64_t expired_ms = kStart_s * 1000 - 1;
  ASSERT_STATUS_OK(store().write_back({{key, stored_value("old")}}, 0, kStart_s * 1'000'000'000));
  for (int i = 0; i < 40; ++i) {  // the old one sinks
    env_.clock->now_s += kInterval_s / 4;
    ASSERT_STATUS_OK(store().write_back(StateSlice(), 0, env_.clock->now_s * 1'000'000'000));
  }
  ASSERT_STATUS_OK(store().write_back({{key, stored_value("new", expired_ms)}}, 0,
                                      env_.clock->now_s * 1'000'000'000));
  for (int i = 0; i < 1000 && store().get(key) != "absent"; ++i) {
    env_.clock->now_s += kInterval_s / 4;
    ASSERT_STATUS_OK(store().write_back(StateSlice(), 0, env_.clock->now_s * 1'000'000'000));
    const std::string found = store().get(key);
    ASSERT_TRUE(found == "absent" || found == stored_value("new", expired_ms)) << found;
  }
  EXPECT_EQ(store().get(key), "absent");
}

TEST_F(RocksExpiryTest, ADroppedRangeFreesItsSpaceAtOnce) {
  write(200'000, 4);
  env_.clock->now_s += kInterval_s;
  const uint64_t before = store()->metrics().state_bytes;
  StateSlice slice;
  slice.erase_range(stored_key_prefix(1), stored_key_prefix(2));
  ASSERT_STATUS_OK(store().write_back(std::move(slice), 0, kStart_s * 1'000'000'000));
  EXPECT_EQ(store().get(stored_key("limiter:100")), "absent");
  EXPECT_TRUE(shrinks_to(before / 20, 600)) << store()->metrics().state_bytes;
}

}  // namespace
}  // namespace weir::storage
