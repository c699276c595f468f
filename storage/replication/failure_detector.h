// Detects that the primary has failed: how long a standby has itself read that the log is silent.
// It claims the role of primary after that.
//
// Each successful read that brings nothing adds the time since the read before it, but at most
// kStepMaxNs: so a standby that was stopped, and an engine that was away, depose nobody. A new
// record, a failed read and a rewound log start the count again. A merely slow read does not, or
// slow engines would keep standbys from claiming for ever.
//
// Times are nanoseconds of the process's own CLOCK_BOOTTIME.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time_units.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

class FailureDetector {
 public:
  static constexpr int64_t kStepMaxNs = 250 * kNsPerMs;
  static constexpr int64_t kSpreadNs = 300 * kNsPerMs;  // added at random, so that two do not meet
  static constexpr int64_t kTroubleNs = 3 * kNsPerS;    // the primary's time to connect again
  static constexpr int64_t kDoubledNsMax = 30 * kNsPerS;

  // `random` is any number; it spreads the claims of several standbys.
  void new_record(uint64_t random);
  void successful_read(int64_t boot_ns);
  // The read failed or found the log rewound.
  void failed_read();
  void unacknowledged_claim();

  // Whether the count allows a claim. Both the standby's own constants and those of the current
  // CLAIM must be satisfied: an option of one node is not the protocol.
  bool is_over(const Times& own, const Times& current) const {
    return sum_ns_ >= wanted_ns(own, current);
  }
  int64_t sum_ns() const { return sum_ns_; }
  int64_t wanted_ns(const Times& own, const Times& current) const;

 private:
  int64_t sum_ns_ = 0;
  std::optional<int64_t> last_read_ns_;
  int64_t spread_ns_ = 0;
  // Since the newest record:
  int unacknowledged_claims_ = 0;
  bool had_trouble_ = false;
};

}  // namespace weir::storage::replication
