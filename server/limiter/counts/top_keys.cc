#include "server/limiter/counts/top_keys.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace weir::server {
namespace {

// Neighbours in key order share their leading bits, so the table wants them mixed.
uint64_t mixed_hash(const TopKeys::Name& name) {
  uint64_t hash = name.hash + static_cast<uint64_t>(name.database) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ hash >> 32;
}

}  // namespace

void TopKeys::reset(size_t capacity) {
  if (capacity != capacity_) *this = TopKeys();  // gives back what it had
  capacity_ = capacity;
  total_ = 0;
  floor_ = 0;
  heap_looks_ = 0;
  cells_.assign(capacity == 0 ? 0 : std::bit_ceil(capacity * kCellsPerCounter), Cell());
  counters_.clear();
  counters_.reserve(capacity);
  shown_.resize(capacity);
  heap_.clear();
  heap_.reserve(capacity);
}

void TopKeys::add(const Name& name, int64_t cost) {
  if (capacity_ == 0 || cost <= 0) return;
  total_ = saturated_sum(total_, cost);
  const uint64_t hash = mixed_hash(name);
  Cell& cell = cell_of(hash);
  for (uint32_t at = cell.first; at != kNone; at = counters_[at].next) {
    Counter& counter = counters_[at];
    if (counter.hash != hash) continue;
    counter.count = saturated_sum(counter.count, cost);
    return;
  }
  if (cost <= floor_ - cell.most) {
    cell.most += cost;
    return;
  }
  add_without_counter(name, hash, cost);
}

// The floor may be too low by what the smallest counters have gained since it was raised.
void TopKeys::add_without_counter(const Name& name, uint64_t hash, int64_t cost) {
  if (counters_.size() < capacity_) return add_counter(name, hash, cost);
  ++heap_looks_;
  if (heap_.empty()) make_heap();
  raise_floor();
  Cell& cell = cell_of(hash);
  if (cost > floor_ - cell.most) return take_over_smallest(name, hash, cost);
  cell.most += cost;
}

void TopKeys::add_counter(const Name& name, uint64_t hash, int64_t cost) {
  const auto counter = static_cast<uint32_t>(counters_.size());
  counters_.push_back({.hash = hash, .count = cost});
  link(counter);
  show(counter, name, 0);
}

// Where both keys have one cell, the new one goes on from what the cell had before the old one left
// its count there.
void TopKeys::take_over_smallest(const Name& name, uint64_t hash, int64_t cost) {
  const uint32_t smallest = heap_.front().counter;
  Counter& counter = counters_[smallest];
  const int64_t error = cell_of(hash).most;
  unlink(smallest);
  cell_of(counter.hash).most = counter.count;
  counter.hash = hash;
  counter.count = saturated_sum(error, cost);
  link(smallest);
  show(smallest, name, error);
  replace_top({.count = counter.count, .counter = smallest});
}

void TopKeys::show(uint32_t counter, const Name& name, int64_t error) {
  Shown& shown = shown_[counter];
  shown.key.assign(name.key.substr(0, kTopKeyBytesMax));
  shown.database = name.database;
  shown.error = error;
}

void TopKeys::link(uint32_t counter) {
  Cell& cell = cell_of(counters_[counter].hash);
  counters_[counter].next = std::exchange(cell.first, counter);
}

void TopKeys::unlink(uint32_t counter) {
  uint32_t* at = &cell_of(counters_[counter].hash).first;
  while (*at != counter) at = &counters_[*at].next;
  *at = counters_[counter].next;
}

void TopKeys::make_heap() {
  for (size_t i = 0; i < counters_.size(); ++i)
    heap_.push_back({.count = counters_[i].count, .counter = static_cast<uint32_t>(i)});
  std::ranges::make_heap(heap_, std::greater<>(), &HeapItem::count);
}

void TopKeys::raise_floor() {
  while (true) {
    const uint32_t top = heap_.front().counter;
    if (heap_.front().count == counters_[top].count) break;
    replace_top({.count = counters_[top].count, .counter = top});
  }
  floor_ = heap_.front().count;
}

void TopKeys::replace_top(HeapItem item) {
  size_t at = 0;
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].count < heap_[child].count) ++child;
    if (heap_[child].count >= item.count) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = item;
}

// No key without a counter has had more than the floor, since no cell has.
TopSummary TopKeys::summary() const {
  std::vector<TopKey> keys;
  keys.reserve(counters_.size());
  for (size_t i = 0; i < counters_.size(); ++i) {
    keys.push_back({.key = shown_[i].key,
                    .database = shown_[i].database,
                    .hash = counters_[i].hash,
                    .count = counters_[i].count,
                    .error = shown_[i].error});
  }
  return {std::move(keys), floor_};
}

}  // namespace weir::server
