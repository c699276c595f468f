// When the log of a server alone gives files of its WAL back. Its memtables keep nothing
// (log_memtables.h), so nothing may be flushed that is not in the state.
//
// The WAL is cut into files, one for each memtable: a new one begins after so many bytes, but not
// while a write-back is under way. So the files that are closed hold turns from before the
// write-back that comes next, and go all together when it has ended. Nothing is written twice for
// that. What is given up is a file that goes before all that were closed with it.
//
// RocksDB's background work, which would flush by itself, is paused but for that moment.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "storage/rocks/log_memtables.h"
#include "storage/rocks/rocks_internal.h"

namespace weir::storage {

class RocksLogCut {
 public:
  // Null memtables: the log is read while it is written, and begin() does nothing.
  void set_up(rocksdb::DB* database, std::shared_ptr<LogMemtables> memtables, uint64_t file_bytes);

  // From now on the memtables keep nothing.
  Status begin();
  bool active() const { return memtables_ != nullptr && memtables_->forgets(); }

  // The next two may be called on any thread.
  void begin_write_back() { writing_back_ = true; }
  void end_write_back() { writing_back_ = false; }

  // True if a new file is due that nobody was told of. On the thread that appends.
  bool is_due(uint64_t bytes) { return wants_file(bytes) && !asked_.exchange(true); }

  // The rest is called on one thread at a time.
  // Whether a new file should begin, where the last one has so many bytes of turns; `all_dropped`:
  // the state has all of them.
  bool wants_cut(uint64_t bytes, bool all_dropped);
  void note_cut() { ++closed_; }
  // Gives the closed files back, if the state has what is in them: the turns up to `dropped`.
  rocksdb::Status give_back(uint64_t dropped);

 private:
  // More of them, and RocksDB would slow writing down.
  static constexpr int kClosedMax = 32;
  // What a quiet server's log may keep.
  static constexpr uint64_t kIdleBytes = 1 << 20;

  bool wants_file(uint64_t bytes) const {
    return bytes >= file_bytes_ && !writing_back_ && closed_ < kClosedMax;
  }

  rocksdb::DB* database_ = nullptr;
  std::shared_ptr<LogMemtables> memtables_;
  uint64_t file_bytes_ = 0;
  std::atomic<bool> writing_back_{false};
  std::atomic<bool> asked_{false};
  std::atomic<int> closed_{0};
};

}  // namespace weir::storage
