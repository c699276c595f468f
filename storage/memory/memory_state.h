// The state of a disk in memory, as one process holds it: reads of it, and write-backs on their way
// into it.
//
// Invariant: a cursor that lives across a write-back costs a copy of the state, which it shares
// until then.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory/memory_disk.h"
#include "storage/store/gc_watermark.h"
#include "storage/store/store.h"

namespace weir::storage {

class MemoryState {
 public:
  explicit MemoryState(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  Lookup get(std::string_view stored_key, std::string* value, Status* failure) const;
  std::unique_ptr<StateCursor> cursor() const;

  void add_to_write_back(StateSlice slice);
  // Puts the whole write-back, with its turn and instant, into the state.
  void apply_write_back(uint64_t written_back_turn, int64_t instant_ns);
  // Forgets the write-back, which was applied or has failed.
  void end_write_back();

  std::vector<std::string> take_expired_headers(size_t max) { return expired_headers_.take(max); }
  void add_metrics(StoreMetrics* metrics) const;

 private:
  void apply_slices();
  void drop_expired();
  void put(std::string_view stored_key, std::string_view value);
  void erase(MemoryDisk::State::iterator at);

  const std::shared_ptr<MemoryDisk> disk_;
  std::vector<StateSlice> slices_;
  std::string last_key_of_write_back_;
  std::string dropped_up_to_;  // where dropping what has expired goes on in the next write-back
  ExpiredHeaders expired_headers_;
  uint64_t bytes_ = 0;
  uint64_t records_dropped_ = 0;
};

}  // namespace weir::storage
