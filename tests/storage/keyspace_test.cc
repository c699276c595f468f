// The keyspace beside a model, over a memory disk that is killed, cut off and made to fail.
#include "storage/keyspace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "storage/memory_store.h"

namespace weir::storage {
namespace {

constexpr int kDatabases = 3;
constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

struct Value {
  std::string payload;
  int64_t expire_at_ms = 0;
  bool operator==(const Value&) const = default;
};
// Short, since a failure prints whole databases.
void PrintTo(const Value& value, std::ostream* out) {
  *out << value.payload.size() << "b@" << value.expire_at_ms;
}

using Contents = std::map<std::string, Value>;
using Model = std::vector<Contents>;

uint64_t test_seed() {
  const char* given = std::getenv("WEIR_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

class KeyspaceTest : public ::testing::Test {
 protected:
  KeyspaceTest() { start(); }

  void start() {
    keys_.reset();
    keys_ = std::make_unique<Keyspace>([this] { return std::make_unique<MemoryStore>(disk_); },
                                       options_);
    OpenReport report;
    const Status status = keys_->open(&report);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Keyspace& keys() {
    keys_->begin_command(now_ns_);
    return *keys_;
  }
  void put(int database, const std::string& key, const std::string& value,
           int64_t expire_at_ms = 0) {
    Ref ref = keys_->look_up(database, key);
    keys_->put(&ref, Type::kString, value, expire_at_ms);
  }
  void erase(int database, const std::string& key) {
    Ref ref = keys_->look_up(database, key);
    keys_->erase(&ref);
  }
  void commit() {
    const Status status = keys_->commit_turn();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void write_back() {
    keys_->write_back_now();
    for (int i = 0; i < 100'000 && keys_->writing_back(); ++i) work();
    ASSERT_FALSE(keys_->writing_back());
  }
  void work() { keys_->work(steady_ns_ += 1'000'000); }
  int64_t now_ms() const { return now_ns_ / 1'000'000; }

  Contents scan_all(int database) {
    Contents found;
    uint64_t cursor = 0;
    do {
      cursor = keys_->scan(database, cursor, 3, [&](const Seen& seen) {
        EXPECT_TRUE(found.try_emplace(std::string(seen.key), Value{"", seen.expire_at_ms}).second);
      });
    } while (cursor != 0);
    EXPECT_TRUE(keys_->failure().ok()) << keys_->failure().message();
    return found;
  }

  // Everything the keyspace shows is the model, seen through look_up, scan and (where nothing
  // expires unseen) size.
  void expect_same(const Model& model) {
    keys();
    for (int database = 0; database < kDatabases; ++database) {
      const Contents& contents = model[static_cast<size_t>(database)];
      Contents live;
      for (const auto& [key, value] : contents) {
        if (value.expire_at_ms == 0 || value.expire_at_ms >= now_ms())
          live.emplace(key, Value{"", value.expire_at_ms});
      }
      ASSERT_EQ(scan_all(database), live) << "database " << database;
      for (const auto& [key, value] : contents) {
        const Ref ref = keys_->look_up(database, key);
        ASSERT_EQ(ref.exists(), live.contains(key)) << key;
        if (ref.exists()) {
          ASSERT_EQ(ref.value(), value.payload) << key;
        }
      }
    }
  }

  std::shared_ptr<MemoryDisk> disk_ = make_memory_disk({11, 22});
  KeyspaceOptions options_{.databases = kDatabases, .write_back_interval_ns = 1'000'000'000'000};
  std::unique_ptr<Keyspace> keys_;
  int64_t now_ns_ = kStartNs;
  int64_t steady_ns_ = 0;
};

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

TEST_F(KeyspaceTest, RollBackTakesBackOneCommandOnly) {
  keys();
  put(0, "a", "1");
  keys();
  put(0, "a", std::string(500, 'x'));
  put(0, "b", "2");
  erase(0, "a");
  keys_->roll_back();
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
  keys_->roll_back();
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
  EXPECT_TRUE(keys_->store_failed());
  expect_same({{{"a", {"1", 0}}}, {}, {}});
  ASSERT_TRUE(keys_->reopen(false).ok());
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
  ASSERT_TRUE(keys_->reopen(false).ok());
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
  ASSERT_TRUE(keys_->reopen(true).ok());
  disk_ = disk_->after_kill();
  start();
  expect_same({{{"a", {"2", 0}}, {"b", {"3", 0}}}, {}, {}});
  EXPECT_EQ(keys_->size(0), 2u);
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
  EXPECT_LT(keys_->figures().bytes, 150'000u);
  EXPECT_GT(keys_->figures().evicted, 15'000u);
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
  disk_->faults.pass = 1;
  write_back();
  write_back();
  EXPECT_EQ(disk_->state->size(), with_a - 1);
}

// The crash comes when the state knows the new incarnation, but has not erased the old one.
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

// Random commands, roll-backs, failing commits, passes, evictions and crashes against the model.
class KeyspaceRandomTest : public KeyspaceTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  struct Step {
    Model committed{kDatabases};
    Model running{kDatabases};
  };

  uint64_t pick(uint64_t bound) { return random_() % bound; }
  std::string any_key() { return "k" + std::to_string(pick(40)) + (pick(4) == 0 ? "{tag}" : ""); }
  std::string any_value() {
    return std::string(pick(8) == 0 ? pick(300) : pick(30), static_cast<char>('a' + pick(26)));
  }
  int any_database() { return static_cast<int>(pick(kDatabases)); }

  void run_command(Model* model) {
    const Model before = *model;
    now_ns_ += static_cast<int64_t>(pick(3'000'000));
    keys();
    for (uint64_t changes = 1 + pick(4); changes > 0; --changes) change(model);
    if (pick(5) != 0) return;
    keys_->roll_back();
    *model = before;
  }

  void change(Model* model) {
    const int database = any_database();
    Contents& contents = (*model)[static_cast<size_t>(database)];
    const std::string key = any_key();
    const uint64_t kind = pick(100);
    if (kind < 60) {
      const Value value{any_value(), pick(3) == 0 ? now_ms() + static_cast<int64_t>(pick(200)) : 0};
      put(database, key, value.payload, value.expire_at_ms);
      contents[key] = value;
    } else if (kind < 75) {
      erase(database, key);
      contents.erase(key);
    } else if (kind < 95) {
      Ref ref = keys_->look_up(database, key);
      if (!ref.exists()) return;
      const int64_t expire_at_ms = pick(2) == 0 ? 0 : now_ms() + static_cast<int64_t>(pick(200));
      keys_->set_expiry(&ref, expire_at_ms);
      contents[key].expire_at_ms = expire_at_ms;
    } else if (kind < 97) {
      keys_->clear(database);
      contents.clear();
    } else {
      const int other = any_database();
      keys_->swap(database, other);
      std::swap((*model)[static_cast<size_t>(database)], (*model)[static_cast<size_t>(other)]);
    }
  }

  void run_turn() {
    Model running = committed_;
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&running);
    if (pick(40) == 0) {
      fail_turn(running);
    } else {
      commit();
      committed_ = running;
    }
  }

  void fail_turn(const Model& running) {
    const bool kept = pick(2) == 0;
    const bool changed = keys_->turn_has_changes();
    (kept ? disk_->faults.append_kept : disk_->faults.append_lost) = 1;
    const Status status = keys_->commit_turn();
    disk_->faults = {};
    ASSERT_EQ(status.ok(), !changed);
    if (!changed) return;
    expect_same(committed_);
    ASSERT_TRUE(keys_->reopen(false).ok());
    if (kept) committed_ = running;
  }

  void crash() {
    disk_ = disk_->after_kill();
    start();
  }

  std::mt19937_64 random_;
  Model committed_{kDatabases};
};

TEST_P(KeyspaceRandomTest, StaysEqualToTheModel) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  options_.memory_bytes_max = 6'000;
  start();
  for (int i = 0; i < 4'000 && !HasFatalFailure(); ++i) {
    run_turn();
    for (uint64_t steps = pick(6); steps > 0; --steps) work();
    if (pick(20) == 0) keys_->write_back_now();
    if (pick(60) == 0) disk_->faults.pass = 1;
    if (pick(100) == 0) crash();
    if (pick(10) == 0) expect_same(committed_);
  }
  expect_same(committed_);
}

// 0: a fresh seed, printed when it fails.
INSTANTIATE_TEST_SUITE_P(Seeds, KeyspaceRandomTest, ::testing::Range<uint64_t>(0, 25));

}  // namespace
}  // namespace weir::storage
