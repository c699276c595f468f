// The latency monitor: the latest slow occurrences of each event, as LATENCY shows them.
//
// An event is a name that the code gives: "command", "fast-command", "commit", "turn",
// "write-back", and the phases of loop_watch.h. The monitor knows no clock and no session.
//
// Invariants
// 1. An event keeps at most kSamplesMax samples, the newest; of one second only the longest.
// 2. Below the threshold nothing is kept, and a threshold of 0 keeps nothing at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace weir::server {

class LatencyMonitor {
 public:
  static constexpr size_t kSamplesMax = 160;

  struct Sample {
    int64_t unix_s = 0;
    int64_t ms = 0;
  };
  struct Event {
    std::deque<Sample> samples = {};  // the oldest first, never empty
    int64_t ms_max = 0;               // since the event was forgotten, older samples included
  };
  using Events = std::map<std::string, Event, std::less<>>;

  void set_threshold_ms(int64_t threshold_ms) { threshold_ms_ = threshold_ms; }
  int64_t threshold_ms() const { return threshold_ms_; }
  bool on() const { return threshold_ms_ > 0; }

  // Keeps a sample if it took as long as the threshold.
  void note(std::string_view event, int64_t unix_s, int64_t duration_ns);

  const Events& events() const { return events_; }
  // Null if the event has no sample.
  const Event* find(std::string_view event) const;
  bool forget(std::string_view event);
  // Forgets all events and answers how many there were.
  size_t forget_all();

 private:
  int64_t threshold_ms_ = 0;
  Events events_;
};

}  // namespace weir::server
