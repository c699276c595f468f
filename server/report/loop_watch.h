// What held the loop: each phase of a turn that took longer than kLongNs, by its name.
//
// It reads no clock: whoever ends a phase has the instant, and mostly takes it for other reasons
// too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/time_units.h"

namespace weir::server {

class LoopWatch {
 public:
  static constexpr int64_t kLongNs = 10 * kNsPerMs;

  struct LongPhase {
    std::string phase;
    int64_t duration_ns = 0;
  };

  // The loop goes to work at this instant of the steady clock.
  void begin(int64_t now_ns) {
    since_ns_ = now_ns;
    named_ns_ = 0;
  }
  // A phase has ended that began when the one before it did. Answers how long it held the loop, or
  // 0 if that was not long. What had a name of its own in it does not count.
  int64_t end(int64_t now_ns) {
    const int64_t duration_ns = now_ns - since_ns_ - named_ns_;
    begin(now_ns);
    return duration_ns > kLongNs ? duration_ns : 0;
  }
  // A part of the running phase has a name of its own.
  void name_part(int64_t duration_ns) { named_ns_ += duration_ns; }
  // When the phase began that is running.
  int64_t since_ns() const { return since_ns_; }

  // Counts a hold. Answers the line for the log; empty when there was one less than a second ago.
  std::string note(std::string_view phase, int64_t duration_ns, int64_t now_ns);

  uint64_t long_phases() const { return long_phases_; }
  int64_t held_ns() const { return held_ns_; }
  const LongPhase& last() const { return last_; }
  const LongPhase& longest() const { return longest_; }
  // Forgets what was counted.
  void reset();

 private:
  int64_t since_ns_ = 0;
  int64_t named_ns_ = 0;  // of the running phase
  uint64_t long_phases_ = 0;
  int64_t held_ns_ = 0;
  LongPhase last_;
  LongPhase longest_;
  int64_t next_line_ns_ = 0;
  uint64_t unsaid_ = 0;  // holds without a line since the last one
};

}  // namespace weir::server
