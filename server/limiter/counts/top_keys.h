// The heaviest keys of a stream, in fixed memory: SpaceSaving (Metwally, Agrawal, El Abbadi 2005)
// with the filter of Filtered Space-Saving (Homem, Carvalho: "Finding top-k elements in data
// streams", 2010).
//
// The idea: keep `capacity` counters, and a table in which every key has a cell. A key that has a
// counter adds to it. One that has none adds to its cell, which it shares with others, if the cell
// has no more than the smallest counter even then. Else it takes that counter over and goes on from
// what its cell has, remembering that as its error; the key that loses its counter leaves its count
// in its own cell. So with N the sum of everything counted
//   1. count - error <= true sum <= count, for every key that is kept,
//   2. error <= N / capacity,
//   3. every key whose true sum is above N / capacity is kept.
// The first holds because no key without a counter has had more than its cell has; the others
// because no cell has more than the smallest counter, and all counters together no more than N.
//
// Most requests look at one cell, and at a counter if there is one. The counters stand in a heap
// with the smallest on top, which is looked at only when a key may take one over: a counter that
// has grown finds its place when it comes to the top. Where all keys are alike, about one
// request in sixteen looks at the heap, since there are sixteen cells for a counter.
//
// A key is known by 64 bits of a keyed hash; its bytes are kept to be shown, kTopKeyBytesMax at
// most.
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
  // How many additions had to look at the heap.
  uint64_t heap_looks() const { return heap_looks_; }
  void reset(size_t capacity);

 private:
  TopKeys() = default;

  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kCellsPerCounter = 16;  // at least

  struct Cell {
    int64_t most = 0;        // the most that a key without a counter can have had; <= floor_
    uint32_t first = kNone;  // of the counters of its keys
  };
  struct Counter {
    uint64_t hash = 0;
    int64_t count = 0;
    uint32_t next = kNone;  // of the same cell
  };
  struct Shown {  // of a counter, apart from what each request looks at
    std::string key;
    int database = 0;
    int64_t error = 0;
  };
  struct HeapItem {
    int64_t count = 0;  // as the counter was when it was put here
    uint32_t counter = 0;
  };

  Cell& cell_of(uint64_t hash) { return cells_[hash & (cells_.size() - 1)]; }
  void add_without_counter(const Name& name, uint64_t hash, int64_t cost);
  void add_counter(const Name& name, uint64_t hash, int64_t cost);
  void take_over_smallest(const Name& name, uint64_t hash, int64_t cost);
  void show(uint32_t counter, const Name& name, int64_t error);
  void link(uint32_t counter);
  void unlink(uint32_t counter);
  void make_heap();
  void raise_floor();
  void replace_top(HeapItem item);

  size_t capacity_ = 0;
  int64_t total_ = 0;
  int64_t floor_ = 0;  // no counter has less, once there are `capacity`
  uint64_t heap_looks_ = 0;
  std::vector<Cell> cells_;  // a power of two
  std::vector<Counter> counters_;
  std::vector<Shown> shown_;    // as many
  std::vector<HeapItem> heap_;  // as many once there are `capacity`
};

}  // namespace weir::server
