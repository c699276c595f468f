// What the server did, minute by minute, in the last 24 hours: what the page draws for who opens it
// when a storm has begun (docs/metrics.md).
//
// It reads no clock and knows nobody whom it counts. It is in memory alone: a process begins with
// none.
//
// Invariant: it holds at most kMinutesMax minutes, 58 KB, however long the process runs, and takes
// them as the minutes pass. The three histograms that it compares with are 8 KB beside that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "server/report/duration_histogram.h"

namespace weir::server {

// Totals since the start, as of one instant.
struct MinuteTotals {
  uint64_t allowed = 0;
  uint64_t denied = 0;
  uint64_t shadow_denied = 0;
  uint64_t errors = 0;
  DurationHistogram decisions = {};
  DurationHistogram turns = {};
  DurationHistogram commits = {};
};

// One minute. Rates are a second, durations are seconds, NaN where there were none.
struct Minute {
  static constexpr std::string_view kNames[] = {"allowed", "denied", "shadow", "errors",
                                                "p50",     "p99",    "turn",   "commit"};
  static constexpr size_t kValues = std::size(kNames);

  int64_t end_s = 0;  // Unix time
  std::array<float, kValues> values{};
};

class Minutes {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerS;
  static constexpr size_t kMinutesMax = 1440;

  // Tells whether a minute has passed since the last one, or none has begun yet.
  bool is_due(int64_t steady_ns) const { return !has_begun_ || steady_ns - since_ns_ >= kEveryNs; }
  // A minute ends, and another one begins. Totals that fell have begun anew at zero.
  void end_minute(int64_t steady_ns, int64_t wall_s, const MinuteTotals& totals);

  // The oldest first.
  const std::deque<Minute>& all() const { return minutes_; }

 private:
  bool has_begun_ = false;
  int64_t since_ns_ = 0;
  MinuteTotals before_;
  std::deque<Minute> minutes_;
};

}  // namespace weir::server
