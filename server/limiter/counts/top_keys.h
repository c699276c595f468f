// The heaviest keys of a stream, in fixed memory: SpaceSaving (Metwally, Agrawal, El Abbadi 2005).
//
// The idea: keep `capacity` counters. A key that has one adds to it. A key that has none takes over
// the smallest counter and goes on from there, remembering as its error what it inherited. So with
// N the sum of everything counted
//   1. count - error <= true sum <= count, for every key that is kept,
//   2. error <= N / capacity,
//   3. every key whose true sum is above N / capacity is kept.
//
// The counts are a heap with the smallest on top, and a small open hash table finds a key's count.
// A key is known by 64 bits of a keyed hash; its bytes are kept to be shown, kTopKeyBytesMax at
// most. What every call touches lies close together: the counts in the heap, half of the hashes in
// the table.
//
// It must not read a clock: everything counts until reset(). Windows of time are top_windows.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/limiter/counts/top_summary.h"

namespace weir::server {

inline constexpr size_t kTopKeyBytesMax = 128;

class TopKeys {
 public:
  // A capacity of 0 keeps nothing.
  explicit TopKeys(size_t capacity) { reset(capacity); }

  struct Name {
    int database = 0;
    uint64_t hash = 0;  // a keyed hash of the key
    std::string_view key;
  };
  // `cost`: the permits taken, or 1 for a request that was denied.
  void add(const Name& name, int64_t cost);

  // Answers what was counted, in no order.
  TopSummary summary() const;

  size_t size() const { return counters_.size(); }
  size_t capacity() const { return capacity_; }
  int64_t total() const { return total_; }  // the sum of everything added
  void reset(size_t capacity);

 private:
  struct Counter {
    std::string key;
    int database = 0;
    int64_t error = 0;
    uint64_t hash = 0;
    uint32_t heap_at = 0;
  };
  struct Count {
    int64_t count;
    uint32_t counter;  // index into counters_
  };
  struct Slot {
    uint32_t counter = kNone;
    uint32_t tag = 0;  // upper half of the hash
  };
  static constexpr uint32_t kNone = 0xffffffff;

  static uint64_t hash_of(const Name& name);
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  size_t slot_of(uint64_t hash) const;  // where the hash is, or where it would go
  void forget(uint64_t hash);
  void take_over_smallest(const Name& name, uint64_t hash, int64_t cost);
  void add_counter(const Name& name, uint64_t hash, size_t slot, int64_t cost);
  void sift_down(size_t at, Count moving);
  void sift_up(size_t at, Count moving);
  void place(size_t at, Count count);

  size_t capacity_ = 0;
  int64_t total_ = 0;
  std::vector<Counter> counters_;
  std::vector<Count> heap_;
  std::vector<Slot> index_;  // open addressing, linear probing; a power of two
};

}  // namespace weir::server
