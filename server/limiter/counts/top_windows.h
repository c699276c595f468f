// The heaviest keys of the last minute, hour and day.
//
// What is counted goes into one sketch (top_keys.h). Every ten seconds that sketch is closed into a
// summary and begun anew, sixty of those make one of ten minutes, and twelve of those one of two
// hours. A window is what is running and the closed ones that reach back over it: a minute is 60 to
// 70 seconds, an hour 60 to 70 minutes, a day 24 to 26 hours.
//
// It must not read a clock: instants are arguments, in nanoseconds, and do not run back.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time_units.h"
#include "server/limiter/counts/top_keys.h"
#include "server/limiter/counts/top_summary.h"

namespace weir::server {

enum class TopWindow { kMinute, kHour, kDay };

// So many keys may be asked for at once.
inline constexpr int64_t kTopCountMax = 1'000'000;

class TopWindows {
 public:
  // A capacity of 0 keeps nothing.
  explicit TopWindows(size_t capacity) : running_(capacity) {}

  void add(const TopKeys::Name& name, int64_t cost, int64_t now_ns) {
    if (now_ns >= ends_at_ns_) [[unlikely]]
      close_up_to(now_ns);
    running_.add(name, cost);
  }
  // Answers the keys of a window, heaviest first; equal ones by database and key.
  TopSummary top(TopWindow window, int64_t now_ns);
  // Forgets everything.
  void reset(size_t capacity);

  size_t capacity() const { return running_.capacity(); }
  // Answers how many counts top() adds up.
  size_t size(TopWindow window) const;

 private:
  static constexpr int64_t kSlotNs = 10 * kNsPerS;
  static constexpr size_t kMinuteSlots = 6;  // of ten seconds
  static constexpr size_t kHourSlots = 6;    // of ten minutes
  static constexpr size_t kDaySlots = 12;    // of two hours
  static constexpr int64_t kSlotsPerHourSlot = 60;
  static constexpr int64_t kHourSlotsPerDaySlot = 12;

  void close_up_to(int64_t now_ns);
  void close_slot();

  TopKeys running_;
  int64_t ends_at_ns_ = 0;
  int64_t slot_ = 0;               // the number of the running one, since the epoch
  std::deque<TopSummary> minute_;  // the closed ones, the newest last
  std::deque<TopSummary> hour_;
  std::deque<TopSummary> day_;
  TopSummary of_hour_slot_;  // of closed slots, since the last one of hour_
  TopSummary of_day_slot_;   // of hour_'s, since the last one of day_
};

}  // namespace weir::server
