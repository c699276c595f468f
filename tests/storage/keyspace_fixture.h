// A keyspace over a memory disk, and what tests compare it with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "storage/keyspace/keyspace.h"
#include "storage/memory/memory_store.h"

namespace weir::storage {
inline constexpr int kDatabases = 3;
inline constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

struct Value {
  std::string payload;
  int64_t expire_at_ms = 0;
  bool operator==(const Value&) const = default;
};
// Short, since a failure prints whole databases.
inline void PrintTo(const Value& value, std::ostream* out) {
  *out << value.payload.size() << "b@" << value.expire_at_ms;
}

using Contents = std::map<std::string, Value>;
using Model = std::vector<Contents>;

inline uint64_t test_seed() {
  const char* given = std::getenv("WEIR_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

class KeyspaceTest : public ::testing::Test {
 protected:
  KeyspaceTest() { start(); }

  void start() {
    keys_.reset();
    keys_ = std::make_unique<Keyspace>(make_store_, options_);
    OpenReport report;
    const Status status = keys_->open(&report);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Keyspace& keys() {
    keys_->running().begin_command(now_ns_);
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
    keys_->work().write_back_now();
    for (int i = 0; i < 100'000 && keys_->work().writing_back(); ++i) work();
    ASSERT_FALSE(keys_->work().writing_back());
  }
  void work() { keys_->work().step(steady_ns_ += 1'000'000); }
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
  Keyspace::StoreFactory make_store_ = [this] { return std::make_unique<MemoryStore>(disk_); };
  KeyspaceOptions options_{.databases = kDatabases, .write_back_interval_ns = 1'000'000'000'000};
  std::unique_ptr<Keyspace> keys_;
  int64_t now_ns_ = kStartNs;
  int64_t steady_ns_ = 0;
};

}  // namespace weir::storage
