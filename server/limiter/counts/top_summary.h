// What a sketch of top_keys.h has counted, as a value that can be kept and merged.
//
// Merging adds up what two streams have counted (Agarwal et al., "Mergeable Summaries", 2012): a
// key that one of them does not know may have had there as much as its floor, which is added to
// both the count and the error. So with N the sum of everything counted in both, the three bounds
// of top_keys.h hold of the result as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weir::server {

struct TopKey {
  std::string key;
  int database = 0;
  uint64_t hash = 0;  // of key and database, by which they are known
  int64_t count = 0;
  int64_t error = 0;  // the count may be too large by this much, and is never too small
};

// The smaller of a + b and the largest number there is. REQUIRES: neither is below 0.
inline int64_t saturated_sum(int64_t a, int64_t b) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  return a > kLargest - b ? kLargest : a + b;
}

class TopSummary {
 public:
  // Of an empty stream.
  TopSummary() = default;
  // `floor`: the most that a key can have been counted which is not among `keys`.
  TopSummary(std::vector<TopKey> keys, int64_t floor) : keys_(std::move(keys)), floor_(floor) {}

  // Adds another stream, and keeps the `capacity` heaviest keys at most.
  void merge(const TopSummary& other, size_t capacity);
  // Brings the keys in their order, heaviest first; equal ones by database and key.
  void sort();

  const std::vector<TopKey>& keys() const { return keys_; }
  int64_t floor() const { return floor_; }
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<TopKey> keys_;
  int64_t floor_ = 0;
};

}  // namespace weir::server
