// What tests of stores share: a directory that goes away, and a store whose write-backs are waited
// for.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/format/record.h"
#include "storage/store/store.h"

namespace weir::storage {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "weir-test-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  // RocksDB's threads may still be deleting files of a store that a test has just closed.
  ~TemporaryDirectory() {
    std::error_code error;
    for (int tries = 0; tries < 100; ++tries) {
      std::filesystem::remove_all(path_, error);
      if (!error) return;
    }
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string stored_key(const std::string& key, Generation generation = 1) {
  return stored_key_prefix(generation, key_order_of(key, {1, 2})) + key;
}

inline std::string stored_value(const std::string& payload, int64_t expire_at_ms = 0) {
  std::string bytes;
  append_value(&bytes, {.type = Type::kString, .expire_at_ms = expire_at_ms, .payload = payload});
  return bytes;
}

// A store that is open, and a thread that may wait for what the store's threads do.
class StoreDriver {
 public:
  using Changes = std::vector<std::pair<std::string, std::string>>;

  explicit StoreDriver(std::unique_ptr<Store> store) : store_(std::move(store)) {
    store_->set_notify([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }

  Status open() { return store_->open(&report); }
  Store* operator->() { return store_.get(); }
  void close() { store_.reset(); }

  Status append(uint64_t first, uint64_t last, const std::string& body = "turn ") {
    for (uint64_t turn = first; turn <= last; ++turn) {
      const Status status = store_->append(turn, body + std::to_string(turn));
      if (!status.ok()) return status;
    }
    return {};
  }

  Status sync() {
    store_->start_sync();
    wait([this] { return !store_->sync_state().running; });
    return store_->sync_state().failure;
  }

  // One slice; keys in any order.
  Status write_back(Changes changes, uint64_t turn, int64_t instant_ns = 0) {
    std::sort(changes.begin(), changes.end());
    StateSlice slice;
    for (const auto& [key, value] : changes) slice.put(key, value);
    return write_back(std::move(slice), turn, instant_ns);
  }
  Status write_back(StateSlice slice, uint64_t turn, int64_t instant_ns = 0) {
    if (!slice.empty()) store_->add_to_write_back(std::move(slice));
    store_->finish_write_back(turn, instant_ns);
    wait([this] { return !store_->write_back_state().running; });
    return store_->write_back_state().failure;
  }

  Status checkpoint(const std::string& directory) {
    store_->start_checkpoint(directory);
    wait([this] { return !store_->checkpoint_state().running; });
    return store_->checkpoint_state().failure;
  }

  // "absent" and "failed: ..." for what is not found.
  std::string get(const std::string& key) {
    std::string value;
    Status failure;
    switch (store_->get(key, &value, &failure)) {
      case Lookup::kFound:
        return value;
      case Lookup::kAbsent:
        return "absent";
      case Lookup::kFailed:
        break;
    }
    return "failed: " + failure.message();
  }

  Status replay(uint64_t first, std::vector<uint64_t>* turns) {
    return store_->replay(first, [&](uint64_t turn, std::string_view) {
      turns->push_back(turn);
      return Status();
    });
  }

  OpenReport report;

 private:
  template <typename Done>
  void wait(Done done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, done);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Store> store_;
};

inline std::vector<uint64_t> turns_between(uint64_t first, uint64_t last) {
  std::vector<uint64_t> turns;
  for (uint64_t turn = first; turn <= last; ++turn) turns.push_back(turn);
  return turns;
}

#define EXPECT_STATUS_OK(expression)                                          \
  do {                                                                        \
    const ::weir::storage::Status status_of_expression = (expression);        \
    EXPECT_TRUE(status_of_expression.ok()) << status_of_expression.message(); \
  } while (false)

#define ASSERT_STATUS_OK(expression)                                          \
  do {                                                                        \
    const ::weir::storage::Status status_of_expression = (expression);        \
    ASSERT_TRUE(status_of_expression.ok()) << status_of_expression.message(); \
  } while (false)

}  // namespace weir::storage
