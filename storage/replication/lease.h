// What a primary may let out, and until when. Times are nanoseconds of CLOCK_BOOTTIME.
//
// A reply to a read leaves only while the lease runs, which counts from the moment when the last
// acknowledged append was *sent*. A conditional CLAIM of another member proves that no append was
// accepted for a longer time, so no such reply is older than the next primary's first commit, as
// long as clock rates differ by less than 25 %. Where the CLAIM had no condition, or where the
// primary's own CLAIM was lost, another lease may still run: then the primary lets nothing out for
// 1.25 leases.
//
// Source of the idea: C. Gray, D. Cheriton, Leases, 1989.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::storage::replication {

class Lease {
 public:
  void begin_epoch(int64_t wait_ns) {
    acknowledged_ = false;
    wait_ns_ = std::max(wait_ns_, wait_ns);
  }
  void acknowledge(int64_t sent_boot_ns, int64_t boot_ns) {
    acknowledged_ = true;
    sent_boot_ns_ = std::max(sent_boot_ns_, sent_boot_ns);
    if (wait_ns_ == 0) return;
    silent_until_ns_ = std::max(silent_until_ns_, boot_ns + wait_ns_);
    wait_ns_ = 0;
  }
  // A demotion, which ends every lease.
  void end() { *this = Lease(); }

  bool is_acknowledged() const { return acknowledged_; }
  bool covers(int64_t boot_ns, int64_t length_ns) const {
    return acknowledged_ && boot_ns - sent_boot_ns_ < length_ns;
  }
  bool may_let_out(int64_t boot_ns) const { return wait_ns_ == 0 && boot_ns >= silent_until_ns_; }
  int64_t sent_boot_ns() const { return sent_boot_ns_; }
  int64_t silent_until_ns() const { return silent_until_ns_; }

  static int64_t wait_for(int64_t superseded_lease_ns) {
    return superseded_lease_ns + superseded_lease_ns / 4 + 1;
  }

 private:
  bool acknowledged_ = false;  // an append of the current epoch
  int64_t sent_boot_ns_ = 0;   // of the last acknowledged append
  int64_t wait_ns_ = 0;        // begins at the next acknowledgement
  int64_t silent_until_ns_ = 0;
};

}  // namespace weir::storage::replication
