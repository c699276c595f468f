#include "server/limiter/top_keys.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace weir::server {

void TopKeys::reset(size_t capacity) {
  capacity_ = capacity;
  total_ = 0;
  counters_.clear();
  counters_.reserve(capacity);
  heap_.clear();
  heap_.reserve(capacity);
  index_.assign(std::bit_ceil(capacity * 4 + 1), kNone);
}

uint64_t TopKeys::hash_of(const Name& name) {
  // Neighbouring positions share their leading bits, so the index wants them mixed.
  uint64_t hash = name.hash + static_cast<uint64_t>(name.database) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ hash >> 32;
}

size_t TopKeys::slot_of(uint64_t hash) const {
  const size_t mask = index_.size() - 1;
  size_t slot = hash & mask;
  while (index_[slot] != kNone && counters_[index_[slot]].hash != hash) slot = (slot + 1) & mask;
  return slot;
}

// Moves back what stood behind it, so that no search ends too early.
void TopKeys::forget(uint64_t hash) {
  const size_t mask = index_.size() - 1;
  size_t hole = slot_of(hash);
  for (size_t slot = (hole + 1) & mask; index_[slot] != kNone; slot = (slot + 1) & mask) {
    const size_t home = counters_[index_[slot]].hash & mask;
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    index_[hole] = index_[slot];
    hole = slot;
  }
  index_[hole] = kNone;
}

void TopKeys::place(uint32_t at, uint32_t counter) {
  heap_[at] = counter;
  counters_[counter].heap_at = at;
}

void TopKeys::sift_down(uint32_t at) {
  const uint32_t moving = heap_[at];
  const int64_t count = counters_[moving].shown.count;
  const auto size = static_cast<uint32_t>(heap_.size());
  while (true) {
    uint32_t child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && count_at(child + 1) < count_at(child)) ++child;
    if (count_at(child) >= count) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, moving);
}

void TopKeys::sift_up(uint32_t at) {
  const uint32_t moving = heap_[at];
  const int64_t count = counters_[moving].shown.count;
  while (at > 0 && count_at((at - 1) / 2) > count) {
    place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(at, moving);
}

uint32_t TopKeys::take_smallest() {
  const uint32_t counter = heap_.front();
  forget(counters_[counter].hash);
  counters_[counter].shown.error = counters_[counter].shown.count;
  return counter;
}

void TopKeys::add(const Name& name, int64_t weight) {
  if (capacity_ == 0 || weight <= 0) return;
  const auto sum = [](int64_t a, int64_t b) {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    return a > kLargest - b ? kLargest : a + b;
  };
  total_ = sum(total_, weight);
  const uint64_t hash = hash_of(name);
  uint32_t counter = index_[slot_of(hash)];
  if (counter == kNone) {
    const bool full = counters_.size() == capacity_;
    counter = full ? take_smallest() : static_cast<uint32_t>(counters_.size());
    if (!full) {
      counters_.emplace_back();
      heap_.push_back(counter);
      counters_[counter].heap_at = counter;
    }
    index_[slot_of(hash)] = counter;
    counters_[counter].hash = hash;
    counters_[counter].shown.key.assign(name.key.substr(0, kTopKeyBytesMax));
    counters_[counter].shown.database = name.database;
    if (!full) {
      counters_[counter].shown.count = weight;
      return sift_up(counter);
    }
  }
  counters_[counter].shown.count = sum(counters_[counter].shown.count, weight);
  sift_down(counters_[counter].heap_at);
}

std::vector<TopKey> TopKeys::top(size_t count) const {
  std::vector<TopKey> keys;
  keys.reserve(counters_.size());
  for (const Counter& counter : counters_) keys.push_back(counter.shown);
  std::sort(keys.begin(), keys.end(), [](const TopKey& a, const TopKey& b) {
    return std::tie(b.count, a.database, a.key) < std::tie(a.count, b.database, b.key);
  });
  if (keys.size() > count) keys.resize(count);
  return keys;
}

}  // namespace weir::server
