// One write-back pass after another: walks the tables in key order, hands every dirty entry's
// committed value to the store, and marks the entries clean when the store has taken the pass as a
// whole.
//
// A pass that began when turn T was the newest covers every change up to T, whatever changed
// meanwhile: so W becomes T. Each step is bounded, so that the loop is never held.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/store.h"
#include "storage/table.h"

namespace weir::storage {

class WriteBack {
 public:
  using Tables = std::vector<std::unique_ptr<Table>>;

  bool running() const { return phase_ != Phase::kIdle; }
  // The loop has something to do; otherwise the store's worker is to be waited for.
  bool wants_step() const { return phase_ == Phase::kCollecting || phase_ == Phase::kSettling; }

  // REQUIRES: !running().
  // `ranges`: of stored keys, to be erased in the same pass.
  void begin(uint64_t turn, int64_t instant_ns, StateSlice ranges, Store* store);
  // Looks at about `looks` entries or segments.
  void step(size_t looks, const Tables& tables, Store* store);
  // The store is gone: everything that it had not taken is dirty again.
  void abandon(const Tables& tables);

  uint64_t written_back_turn() const { return written_back_turn_; }
  void set_written_back_turn(uint64_t turn) { written_back_turn_ = turn; }
  size_t writing() const { return writing_.size() - settled_; }
  // Entries marked dirty less those handed over; kept here because both sides change it.
  size_t dirty = 0;
  // Of the last pass that ended; reset by begin().
  const Status& failure() const { return failure_; }

 private:
  enum class Phase { kIdle, kCollecting, kStoring, kSettling };

  void collect(size_t looks, const Tables& tables, Store* store);
  void collect_segment(Table* table, Segment* segment, StateSlice* slice);
  void settle(size_t looks, const Tables& tables);

  Phase phase_ = Phase::kIdle;
  uint64_t turn_ = 0;
  int64_t instant_ns_ = 0;
  uint64_t written_back_turn_ = 0;
  Incarnation table_ = 0;
  Position position_ = 0;
  std::vector<Entry*> writing_;
  size_t settled_ = 0;
  std::vector<Entry*> gathered_;
  std::string key_;
  std::string value_;
  Status failure_;
};

}  // namespace weir::storage
