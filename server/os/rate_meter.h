// How fast a growing total grows: the mean over the last second and a half, from samples taken now
// and then.
//
// It reads no clock. A total that falls (statistics were reset) starts the meter over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time_units.h"

namespace weir::server {

class RateMeter {
 public:
  // Takes a sample. At most one in 100 ms is kept, so it may be called as often as is convenient.
  void sample(int64_t steady_ns, uint64_t total) {
    if (count_ > 0 && total < newest().total) count_ = 0;
    if (count_ > 0 && steady_ns - newest().steady_ns < kIntervalNs) return;
    samples_[count_++ % kSamples] = {.steady_ns = steady_ns, .total = total};
  }

  double per_second() const {
    if (count_ < 2) return 0;
    const Sample& oldest = samples_[count_ < kSamples ? 0 : count_ % kSamples];
    const auto grown = static_cast<double>(newest().total - oldest.total);
    return grown * static_cast<double>(kNsPerS) /
           static_cast<double>(newest().steady_ns - oldest.steady_ns);
  }

 private:
  static constexpr size_t kSamples = 16;
  static constexpr int64_t kIntervalNs = 100 * kNsPerMs;
  struct Sample {
    int64_t steady_ns = 0;
    uint64_t total = 0;
  };

  const Sample& newest() const { return samples_[(count_ - 1) % kSamples]; }

  std::array<Sample, kSamples> samples_{};
  size_t count_ = 0;
};

}  // namespace weir::server
