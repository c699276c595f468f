// The instant at which a new primary goes on: the newest instant of the log plus the time that
// passed on this machine since that record was read live. The wall clock counts only where no
// record was seen live, after a cold start. Another machine's clock is never asked and no lead is
// inherited. Along the log instants rise from turn to turn only: a turn that is appended again
// keeps its bytes, so it may be older than a HEARTBEAT or a CLAIM before it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::storage::replication {

// Nanoseconds of CLOCK_BOOTTIME, and of the wall clock since the Unix epoch.
struct Instants {
  int64_t boot_ns = 0;
  int64_t wall_ns = 0;
};

class Timeline {
 public:
  // `newest_ns` is the newest instant that the local log knows.
  explicit Timeline(int64_t newest_ns) : newest_ns_(newest_ns) {}

  // From here on records are read as they are written.
  void begin_live() { is_live_ = true; }
  void note(int64_t instant_ns, Instants now) {
    // A record that is read again, after a rewind or a demotion, is not newer than it was.
    if (instant_ns < newest_ns_ || (instant_ns == newest_ns_ && read_live_)) return;
    newest_ns_ = instant_ns;
    if (!is_live_) return;
    read_live_ = true;
    read_at_boot_ns_ = now.boot_ns;
  }
  int64_t at(Instants now) const {
    if (!read_live_) return std::max(newest_ns_, now.wall_ns);
    return newest_ns_ + std::max<int64_t>(0, now.boot_ns - read_at_boot_ns_);
  }
  int64_t newest_ns() const { return newest_ns_; }
  // Whether at() asks the wall clock.
  bool is_cold() const { return !read_live_; }

 private:
  int64_t newest_ns_;
  int64_t read_at_boot_ns_ = 0;
  bool is_live_ = false;
  bool read_live_ = false;
};

}  // namespace weir::storage::replication
