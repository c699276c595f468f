// Exemplars of a histogram of durations: for each of its buckets the newest duration of a
// request whose trace is sampled.
//
// It knows no clock, and as the histogram counts a duration above a second as one second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/trace_parent.h"
#include "server/report/duration_histogram.h"

namespace weir::server {

struct Exemplar {
  std::string trace_id;
  std::string span_id;
  int64_t duration_ns = 0;
  int64_t unix_ms = 0;
};

class Exemplars {
 public:
  void note(const TraceParent& trace, int64_t duration_ns, int64_t unix_ms) {
    if (!trace.is_sampled) return;
    const int64_t shown_ns = std::clamp<int64_t>(duration_ns, 0, DurationHistogram::kMaxNs);
    const int power = std::max(static_cast<int>(std::bit_width(static_cast<uint64_t>(shown_ns))),
                               DurationHistogram::kFirstPower);
    newest_[place_of(power)] = {std::string(trace.trace_id), std::string(trace.parent_id), shown_ns,
                                unix_ms};
  }
  // Answers that of the bucket of durations below 2^power nanoseconds, and not below half of that,
  // if there is one. `power` is that of DurationHistogram::below().
  const std::optional<Exemplar>& below(int power) const { return newest_[place_of(power)]; }

 private:
  static size_t place_of(int power) {
    return static_cast<size_t>(power - DurationHistogram::kFirstPower);
  }

  std::array<std::optional<Exemplar>,
             DurationHistogram::kLastPower - DurationHistogram::kFirstPower + 1>
      newest_;
};

}  // namespace weir::server
