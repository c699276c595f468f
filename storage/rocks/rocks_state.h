// The `state/` database: stored key -> value, as of the written-back turn, and the store's own
// record of that turn.
//
// Invariants
// 1. The state is changed by ingesting one sorted file per write-back and by nothing else. Nothing
//    goes through its memtable or its WAL.
// 2. The store's record of the written-back turn is in the same file as the write-back that it
//    tells of, so the two cannot differ.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/rocks/rocks_filter.h"
#include "storage/rocks/rocks_internal.h"

namespace weir::storage {

inline constexpr uint8_t kWrittenBackFormat = 1;

struct WrittenBack {
  uint64_t turn = 0;
  int64_t instant_ns = 0;
};

std::string written_back_key();
std::string encode_written_back(const WrittenBack& written_back);
Status parse_written_back(std::string_view value, WrittenBack* written_back);

class RocksState {
 public:
  explicit RocksState(RocksOptions options) : options_(std::move(options)) {}
  ~RocksState();

  // May be called again after a failure.
  Status open(const std::string& path, const std::string& write_back_path, OpenMode mode,
              WrittenBack* written_back);

  Lookup get(std::string_view stored_key, std::string* value, Status* failure) const;
  std::unique_ptr<StateCursor> cursor() const;
  uint64_t records_dropped() const { return filter_.dropped(); }
  std::vector<std::string> take_expired_headers(size_t max) {
    return filter_.take_expired_headers(max);
  }
  uint64_t bytes_on_disk() const { return property("rocksdb.live-sst-files-size"); }
  uint64_t records_estimate() const { return property("rocksdb.estimate-num-keys"); }
  // Adds what RocksDB does here by itself.
  void add_metrics(StoreMetrics* metrics) const;
  void add_memory(StoreMemory* memory) const { storage::add_memory(database_.get(), memory); }

  // The next functions run on the worker thread. finish_write_back() or abandon_write_back() drops
  // a write-back that has met a failure.
  void add_to_write_back(const StateSlice& slice);
  Status finish_write_back(const WrittenBack& written_back,
                           const std::function<Status()>& sync_log);
  void abandon_write_back();
  Status checkpoint(const std::string& path);
  // Ends the wait for compactions. May be called on any thread.
  void stop_waiting();

 private:
  class CompactionWatcher;
  using Ranges = std::vector<std::pair<std::string, std::string>>;

  uint64_t property(const std::string& name) const;
  Status begin_write_back();
  Status add(const StateSlice& slice);
  Status write_last(const WrittenBack& written_back);
  Status ingest();
  void free_ranges(const Ranges& ranges);
  uint64_t level0_files() const;
  void wait_for_compactions();
  Status load_written_back(WrittenBack* written_back) const;

  const RocksOptions options_;
  std::string path_;
  std::string write_back_path_;
  RocksFilter filter_;
  std::shared_ptr<CompactionWatcher> watcher_;
  rocksdb::Options set_;
  std::unique_ptr<rocksdb::DB> database_;

  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  Ranges ranges_;
  Status write_back_failure_;
  bool failed_before_ = false;
  std::atomic<uint64_t> merge_waits_{0};
  std::atomic<uint64_t> merge_wait_us_{0};
};

}  // namespace weir::storage
