// When a member reads and appends again. Times are nanoseconds of CLOCK_BOOTTIME.
//
// A primary appends a HEARTBEAT every kHeartbeatNsMax, before whatever else it has to append: else,
// where there is always a turn, no record would hold its address, its instant and its written-back
// turn.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time_units.h"

namespace weir::storage::replication {

struct Pace {
  static constexpr int64_t kPollAfterRecordsNs = 20 * kNsPerMs;
  static constexpr int64_t kPollIdleNs = 100 * kNsPerMs;
  static constexpr int64_t kRetryNs = 200 * kNsPerMs;
  static constexpr int64_t kHeartbeatNsMax = 5 * kNsPerS;  // a record with the primary's address
  static constexpr int64_t kReplaceBookmarkNs = kNsPerMinute;

  int64_t poll_at_ns = 0;
  int64_t read_again_at_ns = 0;
  int64_t append_again_at_ns = 0;
  int64_t turns_sent_at_ns = 0;
  int64_t heartbeat_sent_at_ns = 0;
  int64_t bookmark_replaced_at_ns = 0;

  // 200 ms +- 50 %, so that members that wait for the same thing spread.
  static int64_t after_failure(int64_t boot_ns, uint64_t random) {
    return boot_ns + kRetryNs / 2 + static_cast<int64_t>(random % kRetryNs);
  }
  // A primary sends one when nothing was acknowledged for a quarter of failover-after.
  int64_t heartbeat_deadline(int64_t acknowledged_ns, int64_t failover_after_ns) const {
    return std::min(acknowledged_ns + failover_after_ns / 4,
                    heartbeat_sent_at_ns + kHeartbeatNsMax);
  }
};

}  // namespace weir::storage::replication
