#include "server/limiter/counts/top_keys.h"

#include <bit>
#include <utility>

namespace weir::server {
void TopKeys::reset(size_t capacity) {
  capacity_ = capacity;
  total_ = 0;
  counters_.clear();
  counters_.reserve(capacity);
  heap_.clear();
  heap_.reserve(capacity);
  index_.assign(std::bit_ceil(capacity * 2 + 1), Slot());
}

uint64_t TopKeys::hash_of(const Name& name) {
  // Neighbours in key order share their leading bits, so the index wants them mixed.
  uint64_t hash = name.hash + static_cast<uint64_t>(name.database) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ hash >> 32;
}

size_t TopKeys::slot_of(uint64_t hash) const {
  const size_t mask = index_.size() - 1;
  const uint32_t tag = tag_of(hash);
  size_t slot = hash & mask;
  while (index_[slot].counter != kNone &&
         (index_[slot].tag != tag || counters_[index_[slot].counter].hash != hash)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

// Moves back the slots that follow the removed one, so that no search ends too early.
void TopKeys::forget(uint64_t hash) {
  const size_t mask = index_.size() - 1;
  size_t hole = slot_of(hash);
  for (size_t slot = (hole + 1) & mask; index_[slot].counter != kNone; slot = (slot + 1) & mask) {
    const size_t home = counters_[index_[slot].counter].hash & mask;
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    index_[hole] = index_[slot];
    hole = slot;
  }
  index_[hole].counter = kNone;
}

void TopKeys::place(size_t at, Count count) {
  heap_[at] = count;
  counters_[count.counter].heap_at = static_cast<uint32_t>(at);
}

void TopKeys::sift_down(size_t at, Count moving) {
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].count < heap_[child].count) ++child;
    if (heap_[child].count >= moving.count) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, moving);
}

void TopKeys::sift_up(size_t at, Count moving) {
  while (at > 0 && heap_[(at - 1) / 2].count > moving.count) {
    place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(at, moving);
}

void TopKeys::add_counter(const Name& name, uint64_t hash, size_t slot, int64_t cost) {
  const auto counter = static_cast<uint32_t>(counters_.size());
  index_[slot] = {.counter = counter, .tag = tag_of(hash)};
  counters_.push_back({.key = std::string(name.key.substr(0, kTopKeyBytesMax)),
                       .database = name.database,
                       .hash = hash});
  heap_.push_back({});
  sift_up(counter, {.count = cost, .counter = counter});
}

void TopKeys::take_over_smallest(const Name& name, uint64_t hash, int64_t cost) {
  const Count smallest = heap_.front();
  Counter& counter = counters_[smallest.counter];
  forget(counter.hash);
  index_[slot_of(hash)] = {.counter = smallest.counter, .tag = tag_of(hash)};
  counter.hash = hash;
  counter.key.assign(name.key.substr(0, kTopKeyBytesMax));
  counter.database = name.database;
  counter.error = smallest.count;
  sift_down(0, {.count = saturated_sum(smallest.count, cost), .counter = smallest.counter});
}

void TopKeys::add(const Name& name, int64_t cost) {
  if (capacity_ == 0 || cost <= 0) return;
  total_ = saturated_sum(total_, cost);
  const uint64_t hash = hash_of(name);
  const size_t slot = slot_of(hash);
  if (const uint32_t counter = index_[slot].counter; counter != kNone) {
    const size_t at = counters_[counter].heap_at;
    sift_down(at, {.count = saturated_sum(heap_[at].count, cost), .counter = counter});
  } else if (counters_.size() < capacity_) {
    add_counter(name, hash, slot, cost);
  } else {
    take_over_smallest(name, hash, cost);
  }
}

TopSummary TopKeys::summary() const {
  std::vector<TopKey> keys;
  keys.reserve(counters_.size());
  for (const Counter& counter : counters_) {
    keys.push_back({.key = counter.key,
                    .database = counter.database,
                    .hash = counter.hash,
                    .count = heap_[counter.heap_at].count,
                    .error = counter.error});
  }
  const bool is_full = counters_.size() == capacity_ && capacity_ > 0;
  return {std::move(keys), is_full ? heap_.front().count : 0};
}

}  // namespace weir::server
