// The primary's instants, from its promotion on.
//
// They begin where the shard's timeline is (timeline.h), which may be before or after the primary's
// wall clock, and go on with the machine's CLOCK_BOOTTIME. The difference to the wall clock is the
// lead; it may be negative. While it is more than kLeadMaxNs either way, instants approach the wall
// clock by at most kSlewPpm of the time that passes. So a wall clock that steps, and a takeover by
// a machine whose clock is wrong, hand out nothing and freeze nothing; and the age of the newest
// record, by which each takeover leaves instants behind, does not add up.
//
// Invariants
// 1. An instant never runs back.
// 2. Over any time that passes, instants pass within kSlewPpm of it.
#pragma once

#include <cstdint>

#include "base/time_units.h"
#include "storage/replication/timeline.h"

namespace weir::storage::replication {

class PrimaryClock {
 public:
  static constexpr int64_t kLeadMaxNs = kNsPerMs;
  static constexpr int64_t kSlewPpm = 500;

  // The promotion is at this instant.
  PrimaryClock(int64_t instant_ns, Instants now)
      : from_ns_(instant_ns), from_boot_ns_(now.boot_ns), newest_ns_(instant_ns) {}

  int64_t at(Instants now);
  // How far the instants were ahead of the wall clock when it was last asked.
  int64_t lead_ns() const { return lead_ns_; }

 private:
  // The slew of shorter times is counted from where they began, or it would be rounded to nothing.
  static constexpr int64_t kStepNs = 10 * kNsPerMs;

  int64_t from_ns_;
  int64_t from_boot_ns_;
  int64_t newest_ns_;
  int64_t lead_ns_ = 0;
};

}  // namespace weir::storage::replication
