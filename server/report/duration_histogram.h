// A histogram of durations: how many took how long, in buckets 3 % wide, which are equal between
// two powers of two, as those of HdrHistogram.
//
// It knows no clock. A duration above a second counts as one second.
//
// Invariants
// 1. Adding costs a few instructions and no memory: the buckets are there from the beginning.
// 2. A bucket lies between two neighbouring powers of two, so counts up to a power are exact.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/time_units.h"

namespace weir::server {

class DurationHistogram {
 public:
  static constexpr int64_t kMaxNs = kNsPerS;
  static constexpr int kFirstPower = 10;  // 1024 ns: below it all are about one microsecond
  static constexpr int kLastPower = 30;

  void add(int64_t duration_ns) {
    const auto ns = static_cast<uint64_t>(std::clamp<int64_t>(duration_ns, 0, kMaxNs));
    ++counts_[index_of(ns)];
    ++total_;
    sum_ns_ += ns;
  }
  void add(const DurationHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    sum_ns_ += other.sum_ns_;
  }

  // Leaves what was added since this was as `earlier`.
  void take_away(const DurationHistogram& earlier) {
    for (size_t i = 0; i < counts_.size(); ++i) {
      const uint32_t before = std::min(earlier.counts_[i], counts_[i]);
      counts_[i] -= before;
      total_ -= before;
    }
    sum_ns_ -= std::min(sum_ns_, earlier.sum_ns_);
  }

  uint64_t total() const { return total_; }
  uint64_t sum_ns() const { return sum_ns_; }  // of the durations as they were counted

  // Answers how many took less than 2^power nanoseconds; kFirstPower to kLastPower.
  uint64_t below(int power) const {
    const size_t end = kParts * static_cast<size_t>(power - kFirstPower + 1);
    uint64_t count = 0;
    for (size_t i = 0; i < end; ++i) count += counts_[i];
    return count;
  }

  // Answers the longest duration of the bucket in which `percent` (0 to 100) of all are reached; 0
  // when empty.
  int64_t percentile_ns(double percent) const {
    const auto wanted = std::max(1.0, percent / 100 * static_cast<double>(total_));
    uint64_t count = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      count += counts_[i];
      if (static_cast<double>(count) >= wanted) return longest_of(i);
    }
    return 0;
  }

 private:
  static constexpr int kPartBits = 5;
  static constexpr size_t kParts = 1 << kPartBits;

  // Buckets are equal parts below the first power, and between each power and the next.
  static size_t index_of(uint64_t ns) {
    const int power = std::max(static_cast<int>(std::bit_width(ns | 1)) - 1, kFirstPower - 1);
    if (power < kFirstPower) return ns >> (kFirstPower - kPartBits);
    const size_t part = (ns >> (power - kPartBits)) - kParts;
    return kParts * static_cast<size_t>(power - kFirstPower + 1) + part;
  }

  static int64_t longest_of(size_t index) {
    if (index < kParts)
      return (static_cast<int64_t>(index) + 1) * (1 << (kFirstPower - kPartBits)) - 1;
    const int power = kFirstPower - 1 + static_cast<int>(index / kParts);
    const auto part = static_cast<int64_t>(index % kParts + kParts);
    return ((part + 1) << (power - kPartBits)) - 1;
  }

  std::array<uint32_t, kParts*(kLastPower - kFirstPower + 1)> counts_{};
  uint64_t total_ = 0;
  uint64_t sum_ns_ = 0;
};

}  // namespace weir::server
