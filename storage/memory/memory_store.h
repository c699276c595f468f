// A store whose disk is memory. `--storage memory` runs on it, and simulations crash it.
//
// Like a real store it has two parts. A MemoryDisk is what outlives a process: make a store on it,
// drop the store, make another, and find everything again. A MemoryStore is one process' hold on
// the disk. The shipped server does not keep the disk, so all data ends with the store.
//
// Invariants
// 1. Syncs, write-backs and checkpoints end inside the call that starts them, with `notify` called
//    there, unless the disk says `deferred`: then they end in MemoryStore::step(), and so do
//    appends if it says `appends_late`, too.
// 2. A write-back is applied in finish_write_back(): a caller that may not hold its thread for long
//    makes small ones.
// 3. A power cut leaves batches of a shared log whole, with their bookmarks, or takes them away
//    whole: the disk keeps its batches as writes until they are synced.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/memory/memory_disk.h"
#include "storage/memory/memory_log.h"
#include "storage/memory/memory_state.h"
#include "storage/store/store.h"

namespace weir::storage {

class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk)
      : disk_(std::move(disk)), log_(disk_.get()), state_(disk_) {}

  // Ends the oldest operation under way. False if there is none.
  bool step();

  Status open(OpenReport* report) override;
  const HashSeed& hash_seed() const override { return disk_->seed; }
  Status append(uint64_t turn, std::string_view record) override;
  uint64_t appended_turn() const override {
    return late_appends_ == 0 && log_.failure().ok() ? UINT64_MAX : log_.last_turn();
  }
  Status append_failure() const override { return log_.failure(); }
  Status append_batch(const TurnBatch& batch) override;
  Status bookmarks(std::vector<KeptBookmark>* bookmarks) override;
  uint64_t bookmarked_turn(uint64_t at_most) const override {
    return log_.bookmarked_turn(at_most);
  }
  Lookup kept_turn(uint64_t turn, std::string* record, Status*) override {
    return log_.kept_turn(turn, record);
  }
  void keep_turns_from(uint64_t turn) override { log_.keep_turns_from(turn); }
  Status replay(
      uint64_t first,
      const std::function<Status(uint64_t turn, std::string_view record)>& visit) override {
    return log_.replay(first, visit);
  }
  void start_sync() override;
  SyncState sync_state() const override;
  Status sync_now() override;
  Lookup get(std::string_view stored_key, std::string* value, Status* failure) override {
    return state_.get(stored_key, value, failure);
  }
  std::unique_ptr<StateCursor> cursor() override { return state_.cursor(); }
  void add_to_write_back(StateSlice slice) override;
  void finish_write_back(uint64_t written_back_turn, int64_t instant_ns) override;
  JobState write_back_state() const override { return write_back_; }
  void start_checkpoint(const std::string& directory) override;
  JobState checkpoint_state() const override { return checkpoint_; }
  Status probe() override {
    return disk_->faults.disk_full ? Status::no_space("injected full disk") : Status();
  }
  std::vector<std::string> take_expired_headers(size_t max) override {
    return state_.take_expired_headers(max);
  }
  StoreMetrics metrics() const override;

 private:
  void soon(std::function<void()> work);
  void append_late(uint64_t turn, std::string_view record);
  Status apply_write_back(uint64_t written_back_turn, int64_t instant_ns);

  const std::shared_ptr<MemoryDisk> disk_;
  MemoryLog log_;
  MemoryState state_;
  std::deque<std::function<void()>> pending_;
  size_t late_appends_ = 0;  // of pending_
  uint64_t late_turn_ = 0;   // the newest of them
  SyncState sync_;           // but its synced_turn, which the disk has
  JobState write_back_;
  JobState checkpoint_;
  uint64_t write_backs_ = 0;
};

// Makes a store on a disk and under a seed of its own.
std::unique_ptr<Store> make_memory_store();

}  // namespace weir::storage
