// The `log/` database: turn number -> what the turn changed.
//
// Invariants
// 1. A turn's record is one put: when appended_turn() has come to it, it is in the WAL file, and
//    after a sync() that began then it is on the disk. Only appends write. While a sync or the
//    beginning of a flush is under way they leave it to the writer's thread (rocks_log_writer.h),
//    so they wait for neither.
// 2. Each record tells which turn was known to be synced when it was written, and SYNCED which is
//    (synced_mark.h). So opening can tell what a power cut may take away from what was destroyed.
// 3. After a failed append or sync nothing is appended any more, because what the file holds is
//    unknown: append() keeps the failure and answers it again. One of the writer's thread shows in
//    append_failure() first.
// 4. A write and the beginning of a flush may both change RocksDB's memtable for a new one. Where
//    that fails, RocksDB 7.8 ends the process when it is tried again on the same memtable. So the
//    two exclude one another, and after a failure of either neither is tried again.
// 5. Where there are bookmarks (store/bookmarked_log.h), a file that is removed holds nothing of
//    the newest one before what is kept, nor anything after it.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/rocks/rocks_events.h"
#include "storage/rocks/rocks_internal.h"
#include "storage/rocks/rocks_log_cut.h"
#include "storage/rocks/rocks_log_writer.h"
#include "storage/rocks/rocks_wal_sync.h"
#include "storage/rocks/synced_mark.h"
#include "storage/store/bookmarked_log.h"
#include "storage/store/bookmarked_turns.h"
#include "storage/store/store.h"

namespace weir::storage {

class RocksLog {
 public:
  // `notify` is called from another thread when appends that were left to one are written.
  explicit RocksLog(
      BookmarkedTurns::Kept kept = {}, std::function<void()> notify = [] {})
      : notify_(std::move(notify)), bookmarked_(kept) {}

  struct Opened {
    uint64_t last_turn = 0;    // 0: the log is empty
    uint64_t synced_turn = 0;  // this turn must be in the log, or the state must cover it
    std::string tail_note;     // empty where nothing had to be cut off
  };

  // Checks the WAL, then opens the database. The state is of turn `written_back_turn`. May be
  // called again after a failure.
  Status open(const RocksOptions& options, const std::string& path, OpenMode mode,
              uint64_t written_back_turn, Opened* opened);

  // May complete later: appended_turn() tells, or append_failure().
  Status append(uint64_t turn, std::string_view record);
  uint64_t appended_turn() const { return writer_->written_turn(); }
  Status append_failure() const { return writer_->failure(); }
  // BookmarkedLog's functions, which complete before they return.
  Status append_batch(const TurnBatch& batch);
  Status bookmarks(std::vector<KeptBookmark>* bookmarks) const;
  uint64_t bookmarked_turn(uint64_t at_most) const { return bookmarked_.newest_up_to(at_most); }
  // No file of the log holds a byte of any bookmark after it, and turns go as those of a log
  // without bookmarks. May take as long as writing the whole log.
  Status remove_bookmarks();
  Lookup kept_turn(uint64_t turn, std::string* record, Status* failure) const;
  void keep_turns_from(uint64_t turn) { needed_turn_ = turn; }
  // Lets the log forget the turns that append() takes: then replay() and the functions of
  // BookmarkedLog are not called any more. Is told of write-backs.
  RocksLogCut& forgetting() { return cut_; }
  // True once after each append that has left much to give back: rotate() is then to be called.
  bool take_rotation_due() { return std::exchange(rotation_due_, false); }
  Status replay(uint64_t first, const std::function<Status(uint64_t, std::string_view)>& visit);

  // The functions from here on may be called on any thread.
  // Covers every append that has returned before it, also those that complete later.
  Status sync();
  uint64_t synced_turn() const { return synced_turn_.load(); }
  // Says that the turns up to this one are in the state; the next append, or rotate() where turns
  // are forgotten, drops those that nothing else needs.
  void drop_up_to(uint64_t turn) { droppable_turn_ = turn; }
  // Gives back the files that hold only dropped turns. May run on one thread at a time.
  Status rotate();
  Status checkpoint(const std::string& path);
  void add_metrics(StoreMetrics* metrics) const;
  void add_memory(StoreMemory* memory) const;
  static uint64_t bytes_in(const std::string& path);

 private:
  bool may_append();
  Status put(uint64_t turn, std::string_view record);
  Status put_batch(const TurnBatch& batch);
  rocksdb::Status add_turn(rocksdb::WriteBatch* batch, uint64_t turn,
                           std::string_view record) const;
  rocksdb::Status add_bookmark(rocksdb::WriteBatch* batch, const TurnBatch& turns) const;
  rocksdb::Status add_drops(rocksdb::WriteBatch* batch, uint64_t dropped) const;
  Status finish(rocksdb::WriteBatch* batch, rocksdb::Status status, uint64_t turn);
  rocksdb::Status write(rocksdb::WriteBatch* batch);
  rocksdb::Status start_flush();
  rocksdb::Status wait_for_flushes();
  Status find_last_turn(uint64_t* turn) const;
  Status find_bookmarks();
  Status remove_old_files();

  const std::function<void()> notify_;
  std::string path_;
  uint64_t rotate_bytes_ = 0;
  std::unique_ptr<RocksWalSync> wal_sync_;
  std::unique_ptr<SyncedMark> synced_mark_;
  std::shared_ptr<RocksEvents> events_;
  std::unique_ptr<rocksdb::DB> database_;
  RocksLogCut cut_;
  uint64_t newest_turn_ = 0;  // that append() or append_batch() has taken
  std::atomic<uint64_t> synced_turn_{0};
  std::atomic<uint64_t> wal_bytes_{0};  // bytes written since the last rotation
  std::atomic<uint64_t> droppable_turn_{0};
  std::atomic<uint64_t> dropped_turn_{0};
  bool rotation_due_ = false;
  BookmarkedTurns bookmarked_;
  uint64_t bytes_since_bookmark_ = 0;  // of turns
  uint64_t needed_turn_ = 0;           // see keep_turns_from()
  std::mutex switching_;
  rocksdb::Status switch_failure_;  // under `switching_`
  std::atomic<bool> sync_failed_{false};
  Status failure_;
  std::unique_ptr<LogWriter> writer_;  // the last one: its thread uses the others
};

}  // namespace weir::storage
