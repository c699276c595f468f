#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

TEST_F(KeyspaceTest, CommittedSurvivesTheProcess) {
  keys();
  put(0, "a", "1");
  put(1, "b", "2", now_ms() + 1000);
  commit();
  disk_ = disk_->after_kill();
  start();
  expect_same({{{"a", {"1", 0}}}, {{"b", {"2", now_ms() + 1000}}}, {}});
  EXPECT_EQ(keys_->size(0), 1u);
  EXPECT_EQ(keys_->size(1), 1u);
}

TEST_F(KeyspaceTest, UncommittedDoesNot) {
  keys();
  put(0, "a", "1");
  disk_ = disk_->after_kill();
  start();
  expect_same({{}, {}, {}});
}

// A page that ends in memory, after the state could not be read on, would leave out what was not
// read.
TEST_F(KeyspaceTest, APageOfAScanThatCannotReadOnFails) {
  constexpr int kKeys = 40;
  const auto key_of = [](int i) { return "key:" + std::to_string(i); };
  keys();
  for (int i = 0; i < kKeys; ++i) put(0, key_of(i), "1");
  commit();
  write_back();
  disk_ = disk_->after_kill();
  start();
  keys();
  for (int i = 0; i < kKeys / 2; ++i) EXPECT_TRUE(keys_->look_up(0, key_of(i)).exists());
  for (const size_t page : {1, 3, 10}) {
    for (uint64_t fault = 1; fault < kKeys; ++fault) {
      std::set<std::string> found;
      uint64_t cursor = 0;
      keys();
      disk_->faults.cursor = fault;
      do {
        cursor = keys_->scan(0, cursor, page, [&](const Seen& seen) { found.emplace(seen.key); });
      } while (cursor != 0 && keys_->failure().ok());
      if (keys_->failure().ok()) {
        EXPECT_EQ(found.size(), static_cast<size_t>(kKeys)) << fault << " of " << page;
      }
    }
  }
  disk_->faults = {};
}

TEST_F(KeyspaceTest, RollBackTakesBackOneCommandOnly) {
  keys();
  put(0, "a", "1");
  keys();
  put(0, "a", std::string(500, 'x'));
  put(0, "b", "2");
  erase(0, "a");
  keys_->running().roll_back();
  expect_same({{{"a", {"1", 0}}}, {}, {}});
  EXPECT_EQ(keys_->size(0), 1u);
}

TEST_F(KeyspaceTest, RollBackBringsAClearedDatabaseBack) {
  keys();
  put(0, "a", "1");
  commit();
  keys();
  put(0, "b", "2");
  keys_->clear(0);
  put(0, "c", "3");
  keys_->swap(0, 1);
  keys_->running().roll_back();
  commit();
  expect_same({{{"a", {"1", 0}}}, {}, {}});
  EXPECT_EQ(keys_->size(0), 1u);
}

TEST_F(KeyspaceTest, FailedTurnIsTakenBackWhole) {
  keys();
  put(0, "a", "1");
  commit();
  keys();
  put(0, "a", "2");
  keys();
  put(0, "b", "2");
  disk_->faults.append_lost = 1;
  EXPECT_FALSE(keys_->commit_turn().ok());
  EXPECT_TRUE(keys_->store_in_use().failed());
  expect_same({{{"a", {"1", 0}}}, {}, {}});
  ASSERT_TRUE(keys_->reopen(Keep::kNothing).ok());
  expect_same({{{"a", {"1", 0}}}, {}, {}});
  keys();
  put(0, "a", "3");
  commit();
  start();
  expect_same({{{"a", {"3", 0}}}, {}, {}});
}

TEST_F(KeyspaceTest, ReopeningDecidesWhatAnUnknownAppendDid) {
  keys();
  put(0, "a", "1");
  disk_->faults.append_kept = 1;
  EXPECT_FALSE(keys_->commit_turn().ok());
  expect_same({{}, {}, {}});
  ASSERT_TRUE(keys_->reopen(Keep::kNothing).ok());
  expect_same({{{"a", {"1", 0}}}, {}, {}});
}

TEST_F(KeyspaceTest, MemoryGoesOnAndPaysTheDiskLater) {
  keys();
  put(0, "a", "1");
  disk_->faults.append_kept = 1;
  EXPECT_TRUE(keys_->commit_turn(true).ok());
  keys();
  put(0, "a", "2");
  put(0, "b", "3");
  EXPECT_TRUE(keys_->commit_turn(true).ok());
  expect_same({{{"a", {"2", 0}}, {"b", {"3", 0}}}, {}, {}});
  ASSERT_TRUE(keys_->reopen(Keep::kAll).ok());
  disk_ = disk_->after_kill();
  start();
  expect_same({{{"a", {"2", 0}}, {"b", {"3", 0}}}, {}, {}});
  EXPECT_EQ(keys_->size(0), 2u);
}

// No call of work() has the whole of it in hand, and nobody waits for the worker that writes it.
TEST_F(KeyspaceTest, AGiantTurnIsWrittenBackInSlices) {
  constexpr int kKeys = 60'000;
  options_.unwritten_max = 10'000;
  disk_->deferred = true;
  start();
  keys();
  for (int i = 0; i < kKeys; ++i) put(0, std::to_string(i), "1");
  commit();
  EXPECT_TRUE(keys_->work().overloaded());
  keys_->work().write_back_now();
  int slices = 0;
  for (; keys_->work().overloaded() && slices < 1'000; ++slices) {
    ASSERT_TRUE(keys_->work().wanted());
    work();
  }
  EXPECT_GT(slices, 4);
  EXPECT_LT(slices, 1'000);
  EXPECT_TRUE(keys_->work().writing_back());
  EXPECT_GE(keys_->metrics().unwritten, static_cast<size_t>(kKeys));
}

TEST_F(KeyspaceTest, FailingReadIsNotAbsence) {
  keys();
  put(0, "a", "1");
  commit();
  write_back();
  start();
  disk_->faults.get = 1;
  EXPECT_FALSE(keys().look_up(0, "a").exists());
  EXPECT_FALSE(keys_->failure().ok());
  EXPECT_TRUE(keys().look_up(0, "a").exists());
  EXPECT_TRUE(keys_->failure().ok());
}

TEST_F(KeyspaceTest, ErasedAfterWriteBackStaysErased) {
  keys();
  put(0, "a", "1");
  commit();
  write_back();
  keys();
  erase(0, "a");
  commit();
  write_back();
  for (int i = 0; i < 100; ++i) work();
  start();
  expect_same({{}, {}, {}});
}

// The state holds "a" without an expiry; the newer value, with one, expires before it was ever
// written back.
TEST_F(KeyspaceTest, ExpiredBeforeWriteBackDoesNotReviveTheOldValue) {
  keys();
  put(0, "a", "old");
  commit();
  write_back();
  keys();
  put(0, "a", "new", now_ms() + 10);
  commit();
  now_ns_ += 20'000'000;
  EXPECT_FALSE(keys().look_up(0, "a").exists());
  commit();
  write_back();
  for (int i = 0; i < 100; ++i) work();
  expect_same({{}, {}, {}});
  start();
  expect_same({{}, {}, {}});
}

TEST_F(KeyspaceTest, KeyspaceMayBeManyTimesTheMemory) {
  options_.memory_bytes_max = 100'000;
  start();
  Model model(kDatabases);
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    keys();
    put(0, key, std::to_string(i));
    model[0][key] = {std::to_string(i), 0};
    if (i % 50 == 0) commit();
    if (i % 2000 == 0) {
      commit();
      write_back();
      for (int step = 0; step < 50; ++step) work();
    }
  }
  commit();
  write_back();
  for (int step = 0; step < 50; ++step) work();
  EXPECT_LT(keys_->metrics().bytes, 150'000u);
  EXPECT_GT(keys_->metrics().evicted, 15'000u);
  EXPECT_EQ(keys_->size(0), 20'000u);
  expect_same(model);
}

TEST_F(KeyspaceTest, OpensWithMoreDatabases) {
  keys();
  put(2, "a", "1");
  commit();
  options_.databases = 8;
  start();
  EXPECT_TRUE(keys().look_up(2, "a").exists());
  EXPECT_FALSE(keys().look_up(7, "a").exists());
}

TEST_F(KeyspaceTest, AClearedDatabaseLeavesTheDisk) {
  keys();
  put(0, "a", "1");
  commit();
  write_back();
  const size_t with_a = disk_->state->size();
  keys().clear(0);
  commit();
  disk_->faults.write_back = 1;
  write_back();
  write_back();
  EXPECT_EQ(disk_->state->size(), with_a - 1);
}

// The crash comes when the state knows the new generation, but has not erased the old one.
TEST_F(KeyspaceTest, WhatIsLeftOfAClearedDatabaseIsFoundAtOpening) {
  keys();
  put(0, "a", "1");
  commit();
  write_back();
  const auto before = *disk_->state;
  keys().clear(0);
  commit();
  write_back();
  for (const auto& [key, value] : before) disk_->state->try_emplace(key, value);
  const size_t with_rest = disk_->state->size();
  start();
  write_back();
  EXPECT_LT(disk_->state->size(), with_rest);
  expect_same({{}, {}, {}});
}

TEST_F(KeyspaceTest, CounterForgetsWhatExpiredUnseen) {
  keys();
  for (int i = 0; i < 3000; ++i) put(0, "mortal" + std::to_string(i), "v", now_ms() + 10);
  for (int i = 0; i < 3000; ++i) put(0, "lasting" + std::to_string(i), "v");
  commit();
  write_back();
  start();
  now_ns_ += 1'000'000'000;
  EXPECT_EQ(keys().size(0), 6000u);
  for (int i = 0; i < 2000; ++i) {
    if (i % 50 == 0) {  // changes before and behind the place where counting is
      keys();
      put(0, "new" + std::to_string(i), "v");
      erase(0, "lasting" + std::to_string(i));
      for (int j = 0; j < 50; ++j) put(0, "brief" + std::to_string(i + j), "v", now_ms() + 1);
      commit();
      now_ns_ += 5'000'000;
    }
    work();
  }
  keys();
  for (int i = 0; i < 100; ++i) work();
  EXPECT_EQ(keys().size(0), 3000u);
}

// The keys are counted at the start, expire while only the store has them, and are put again. So
// nothing is left of them that the compaction could drop.
TEST_F(KeyspaceTest, CounterForgetsWhatWasPutAgainAfterItExpiredUnseen) {
  const auto put_all = [this](int64_t expire_at_ms) {
    keys();
    for (int i = 0; i < 10; ++i) put(0, "key" + std::to_string(i), "v", expire_at_ms);
    commit();
  };
  const auto rest = [this] {
    write_back();
    for (int i = 0; i < 1'000; ++i) work();
  };
  put_all(now_ms() + 1'000);
  write_back();
  start();
  rest();
  ASSERT_EQ(keys().size(0), 10u);
  now_ns_ += 5'000'000'000;
  put_all(0);
  rest();
  EXPECT_EQ(keys().size(0), 10u);
}

// Its last key expires, leaves the disk with a write-back of another database, and the process ends
// before the count that follows: the next one finds nothing but the counter. It is corrected though
// memory is always short, too.
TEST_F(KeyspaceTest, CounterOfAnEmptyDatabaseForgetsWhatLeftTheDiskUnseen) {
  for (const size_t memory_bytes_max : {SIZE_MAX, size_t{1}}) {
    disk_ = make_memory_disk({11, 22});
    steady_ns_ = 0;  // no recount is due before the last start
    options_.memory_bytes_max = memory_bytes_max;
    start();
    keys();
    put(0, "short", "v", now_ms() + 1'000);
    commit();
    write_back();
    start();
    now_ns_ += 5'000'000'000;
    keys();
    put(1, "other", "v");
    commit();
    write_back();
    ASSERT_EQ(keys_->size(0), 1u);
    start();
    keys();
    for (int i = 0; i < 1'000; ++i) work();
    EXPECT_EQ(keys_->size(0), 0u) << memory_bytes_max;
    EXPECT_EQ(keys_->size(1), 1u);
  }
}

// Passes on what a store's log would get, as the log of several machines does.
class OtherLog final : public TurnLog {
 public:
  explicit OtherLog(Keyspace::StoreFactory make_store) : store_(make_store()) {
    OpenReport report;
    EXPECT_TRUE(store_->open(&report).ok());
  }

  Status append(uint64_t turn, std::string_view record) override {
    if (refuses) return Status::failed("nobody listens");
    return store_->append(turn, record);
  }

  bool refuses = false;

 private:
  std::unique_ptr<Store> store_;
};

TEST_F(KeyspaceTest, AppendsItsTurnsToTheLogThatItIsHanded) {
  const auto other_disk = disk_ = make_memory_disk({11, 22});
  OtherLog log(make_store_);
  disk_ = make_memory_disk({11, 22});
  options_.log = &log;
  start();
  keys();
  put(0, "a", "1");
  commit();
  log.refuses = true;
  keys();
  put(0, "b", "1");
  EXPECT_FALSE(keys_->commit_turn().ok());
  expect_same({{{"a", {"1"}}}, {}, {}});
  EXPECT_FALSE(keys_->reopen(Keep::kAll).ok());
  options_.log = nullptr;
  disk_ = other_disk;  // what it has got is all that there is
  start();
  expect_same({{{"a", {"1"}}}, {}, {}});
}

}  // namespace
}  // namespace weir::storage
