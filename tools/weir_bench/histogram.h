// Counts durations in buckets whose width grows with their value: 64 to each power of two, so a
// percentile is at most 1.6 percent above the truth. The largest duration is kept exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::bench {

class Histogram {
 public:
  void add(int64_t duration_ns) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(duration_ns, 0));
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ns_ += ns;
    max_ns_ = std::max(max_ns_, ns);
  }

  uint64_t count() const { return count_; }
  uint64_t max_ns() const { return max_ns_; }
  uint64_t mean_ns() const { return count_ == 0 ? 0 : sum_ns_ / count_; }

  // What `fraction` (0 to 1) of the durations do not exceed.
  uint64_t percentile_ns(double fraction) const {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(count_) + 0.5);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= wanted && seen > 0) return std::min(upper_bound_ns(i), max_ns_);
    }
    return max_ns_;
  }

 private:
  static constexpr int kSubBits = 6;
  static constexpr int kBitsMax = 42;  // longer than an hour
  static constexpr size_t kBuckets = size_t{kBitsMax - kSubBits + 1} << kSubBits;

  static size_t bucket_of(uint64_t ns) {
    if (ns < (1u << kSubBits)) return ns;
    const int shift = std::bit_width(ns) - 1 - kSubBits;
    return std::min((static_cast<size_t>(shift) << kSubBits) + (ns >> shift), kBuckets - 1);
  }
  static uint64_t upper_bound_ns(size_t bucket) {
    if (bucket < (2u << kSubBits)) return bucket;
    const size_t shift = (bucket >> kSubBits) - 1;
    return (((bucket - (shift << kSubBits)) + 1) << shift) - 1;
  }

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t sum_ns_ = 0;
  uint64_t max_ns_ = 0;
};

}  // namespace weir::bench
