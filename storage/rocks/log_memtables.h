// The memtables of the log of a server alone: plain lists of turns, sorted when somebody reads
// them.
//
// RocksDB keeps in memory what it has written to its WAL, up to the flush of it. A server alone
// reads its log when it opens, and never again, and what is not in the state yet stays in the WAL:
// so from forget() on a memtable keeps nothing, and a flush, which gives the WAL's file back,
// writes nothing. At 10^5 keys and full load the memtables took 96 of 142 MB, and the flushes
// 37 of 87 bytes written for a command. What is given up is that the log can be read while it is
// written.
//
// Invariants
// 1. No flush loses a turn: a memtable that has forgotten turns can be read, by a flush or anybody,
//    only if all of them are in the state (note_dropped()). Else the process ends, and the WAL has
//    them.
// 2. Writes come one at a time, and an insertion uses what the allocation before it has answered.
#pragma once

#include <rocksdb/memtablerep.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace weir::storage {

class LogMemtables : public rocksdb::MemTableRepFactory {
 public:
  const char* Name() const override { return "weir.log"; }
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& compare,
                                          rocksdb::Allocator* arena, const rocksdb::SliceTransform*,
                                          rocksdb::Logger*) override;

  // What is written from now on is not kept, and the next write gives back what the memtable that
  // it comes into holds.
  void forget() { shared_->forgets = true; }
  bool forgets() const { return shared_->forgets; }
  // All turns up to this one are in the state.
  void note_dropped(uint64_t turn) { shared_->dropped_turn = turn; }
  // The last turn in any memtable that takes no more; 0: there was none.
  uint64_t closed_turn() const { return shared_->closed_turn; }

  struct Shared {
    std::atomic<bool> forgets{false};
    std::atomic<uint64_t> dropped_turn{0};
    std::atomic<uint64_t> closed_turn{0};
  };

 private:
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace weir::storage
