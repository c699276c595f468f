#include "server/report/loop_watch.h"

namespace weir::server {

std::string LoopWatch::note(std::string_view phase, int64_t duration_ns, int64_t now_ns) {
  ++long_phases_;
  held_ns_ += duration_ns;
  last_ = {.phase = std::string(phase), .duration_ns = duration_ns};
  if (duration_ns > longest_.duration_ns) longest_ = last_;
  if (now_ns < next_line_ns_) {
    ++unsaid_;
    return {};
  }
  next_line_ns_ = now_ns + kNsPerS;
  std::string line =
      "the loop was held for " + std::to_string(duration_ns / kNsPerMs) + " ms: " + last_.phase;
  if (unsaid_ > 0) line += " (and " + std::to_string(unsaid_) + " times since the last such line)";
  unsaid_ = 0;
  return line;
}

void LoopWatch::reset() {
  long_phases_ = 0;
  held_ns_ = 0;
  last_ = {};
  longest_ = {};
}

}  // namespace weir::server
