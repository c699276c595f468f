// For how long a shard's log has not acknowledged what its primary appends. Times are nanoseconds
// of CLOCK_BOOTTIME.
//
// The count begins with the first append after the last acknowledged one, not with that: a primary
// with nothing to append hears nothing, and misses nothing. An append that is refused or given up
// changes nothing, because the next one is on its way then.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::server {

class LogAbsence {
 public:
  // The log is away when it has not answered for so long.
  explicit LogAbsence(int64_t limit_ns) : limit_ns_(limit_ns) {}

  void sent(int64_t boot_ns) {
    sent_ns_ = boot_ns;
    if (!waits_) since_ns_ = boot_ns;
    waits_ = true;
  }
  void acknowledged() {
    acknowledged_sent_ns_ = sent_ns_;
    waits_ = is_away_ = is_told_ = false;
  }
  void look(int64_t boot_ns) { is_away_ = for_ns(boot_ns) >= limit_ns_; }

  // As the last look has found it.
  bool is_away() const { return is_away_; }
  int64_t for_ns(int64_t boot_ns) const { return waits_ ? boot_ns - since_ns_ : 0; }
  // Tells once for each absence that a lease has been over for as long as the log may be silent.
  bool outlasts(int64_t lease_ns, int64_t boot_ns) {
    if (!is_away_ || is_told_ || boot_ns < acknowledged_sent_ns_ + lease_ns + limit_ns_)
      return false;
    return is_told_ = true;
  }
  // When look() and outlasts() will have something to tell; INT64_MAX: not before something comes.
  int64_t next_deadline(int64_t lease_ns) const {
    if (!waits_ || is_told_) return INT64_MAX;
    const int64_t away_at_ns = since_ns_ + limit_ns_;
    return is_away_ ? std::max(away_at_ns, acknowledged_sent_ns_ + lease_ns + limit_ns_)
                    : away_at_ns;
  }

 private:
  const int64_t limit_ns_;
  int64_t sent_ns_ = 0;               // the last append
  int64_t acknowledged_sent_ns_ = 0;  // the last that was acknowledged
  int64_t since_ns_ = 0;              // while waits_
  bool waits_ = false;
  bool is_away_ = false;
  bool is_told_ = false;
};

}  // namespace weir::server
