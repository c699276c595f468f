// Write-back: how changes come into the state. A write-back walks the tables in key order, hands
// every dirty entry's committed value to the store, and marks the entries clean when the store has
// taken the write-back as a whole.
//
// A write-back that began when turn T was the newest covers every change up to T, because an entry
// that changed after T was handed over is dirty again: so T becomes the written-back turn, or where
// turns have bookmarks the newest one up to T that has. Each step is bounded, so that the loop is
// never held. No queue by age is kept, and an entry needs no turn number, because a write-back
// takes all that is dirty. What is given up is a finer step: the log is dropped a write-back at a
// time.
//
// Invariant: what the state gets is in the store's own log first. A write-back hands over values of
// turns after T, too; where turns are committed in another log, it waits until the newest of these
// is committed and has come into the store's own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/memtable/table.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store.h"

namespace weir::storage {

class WriteBack {
 public:
  using Tables = std::vector<std::unique_ptr<Table>>;

  bool running() const { return phase_ != Phase::kIdle; }
  // True while the loop has something to do; otherwise the store's worker is to be waited for.
  bool wants_step() const { return phase_ == Phase::kCollecting || phase_ == Phase::kSettling; }

  // Begins a write-back, which also erases `ranges` of stored keys. REQUIRES: !running().
  void begin(uint64_t turn, int64_t instant_ns, StateSlice ranges, Store* store);
  // Does a step of about `units` work units and answers how many it took: a segment is one, each
  // entry handed over kUnitsPerEntry more and one for each kBytesPerUnit of it, each entry settled
  // one, and more where its memory is given back. The write-back gets the instant of its
  // last collecting step: an entry handed over as absent may have expired since the write-back
  // began, and no restart may find an earlier time, at which that entry was still there.
  size_t step(size_t units, int64_t now_ns, const LogEnd& end, const Tables& tables, Store* store);
  static constexpr size_t kUnitsPerEntry = 4;
  static constexpr size_t kBytesPerUnit = 256;
  // The store is gone: everything that it had not taken becomes dirty again.
  void abandon(const Tables& tables);

  uint64_t written_back_turn() const { return written_back_turn_; }
  void set_written_back_turn(uint64_t turn) { written_back_turn_ = turn; }
  size_t writing() const { return writing_.size() - settled_; }
  // The size that the entries handed to the running write-back had when they were handed over.
  size_t writing_bytes() const { return writing_bytes_; }
  // How many entries are dirty and not handed over. Public because the keyspace marks entries dirty
  // and the write-back takes them.
  size_t dirty = 0;
  // The failure of the write-back that ended last; begin() resets it.
  const Status& failure() const { return failure_; }

 private:
  enum class Phase { kIdle, kCollecting, kLogging, kStoring, kSettling };

  size_t collect(size_t units, const Tables& tables, Store* store);
  size_t collect_segment(Table* table, Segment* segment, size_t units, Store* store);
  void hand_over(Entry* entry);
  size_t settle(size_t units, const Tables& tables);

  Phase phase_ = Phase::kIdle;
  uint64_t turn_ = 0;
  uint64_t newest_collected_ = 0;  // no value that was handed over is of a later turn
  int64_t instant_ns_ = 0;
  uint64_t written_back_turn_ = 0;
  Generation table_ = 0;
  KeyOrder key_order_ = 0;
  std::vector<Entry*> writing_;
  size_t settled_ = 0;
  size_t writing_bytes_ = 0;
  StateSlice slice_;  // collected, and not handed over yet
  std::vector<Entry*> gathered_;
  std::string key_;
  std::string value_;
  Status failure_;
};

}  // namespace weir::storage
