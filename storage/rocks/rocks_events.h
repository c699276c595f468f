// Counts what RocksDB does by itself: compactions, and stalls of writing. It is told on RocksDB's
// threads and asked on others.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>

namespace weir::storage {

class RocksEvents : public rocksdb::EventListener {
 public:
  // A stall begins where RocksDB slows writing down, or stops it.
  uint64_t stalls() const { return stalls_; }
  uint64_t compactions() const { return compactions_; }
  uint64_t compactions_running() const { return running_; }
  uint64_t compaction_us() const { return compaction_us_; }        // of all threads together
  uint64_t compaction_bytes() const { return compaction_bytes_; }  // that were written

  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& stall) override {
    const bool began = stall.condition.prev == rocksdb::WriteStallCondition::kNormal &&
                       stall.condition.cur != rocksdb::WriteStallCondition::kNormal;
    if (began) ++stalls_;
  }
  // RocksDB would begin again by itself once the disk has room, with a flush. Who has the database
  // decides when to go on, and a log that forgets its turns must not be flushed.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { ++running_; }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override {
    --running_;
    ++compactions_;
    compaction_us_ += job.stats.elapsed_micros;
    compaction_bytes_ += job.stats.total_output_bytes;
  }

 private:
  std::atomic<uint64_t> stalls_{0};
  std::atomic<uint64_t> compactions_{0};
  std::atomic<uint64_t> running_{0};
  std::atomic<uint64_t> compaction_us_{0};
  std::atomic<uint64_t> compaction_bytes_{0};
};

}  // namespace weir::storage
