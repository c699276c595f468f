// A token bucket that is obviously right: one number, the level, in units of 1/period permits.
// In a nanosecond `count` units come back, so nothing is ever rounded. It shares no formula with
// GCRA, which keeps an instant and no level.
//
// The one refinement, for law 1 (laws.h): a bucket of one permit keeps the fraction that
// gathered within the nanosecond in which it became full.
#pragma once

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/wide.h"

namespace weir::algorithms::testing {

class BucketModel {
 public:
  BucketModel(const Limit& limit, int64_t now_ns)
      : count_(limit.count), period_(limit.period_ns), capacity_(limit.capacity), now_ns_(now_ns) {
    level_ = full();
  }
  // Not full at first.
  BucketModel(const Limit& limit, int64_t now_ns, int64_t initial) : BucketModel(limit, now_ns) {
    level_ = period_ * initial;
  }

  Verdict decide(const Request& request) {
    advance(request.now_ns);
    const int128 price = period_ * request.cost;
    if (request.cost == 0) return verdict(true, 0, false);
    if (request.cost > capacity_ && !request.force) return verdict(false, kNever, false);
    if (level_ < price && !request.force) {
      return verdict(false, ceil_divide(price - level_, count_), false);
    }
    level_ -= price;
    return verdict(true, 0, true);
  }

  Verdict refund(const Refund& refund) {
    advance(refund.now_ns);
    const bool changes = refund.permits > 0 && level_ < full();
    if (changes) level_ = std::min(full(), level_ + period_ * refund.permits);
    return verdict(true, 0, changes);
  }

 private:
  int128 full() const { return period_ * capacity_; }

  void advance(int64_t now_ns) {
    level_ += (int128{now_ns} - now_ns_) * count_;
    now_ns_ = now_ns;
    const bool full_within_a_ns = level_ - full() < count_;
    if (level_ > full() && !(capacity_ == 1 && full_within_a_ns)) level_ = full();
  }

  static int64_t ceil_divide(int128 a, int128 b) { return static_cast<int64_t>((a + b - 1) / b); }

  Verdict verdict(bool allowed, int64_t retry_after_ns, bool changed) const {
    return {.allowed = allowed,
            .limit = static_cast<int64_t>(capacity_),
            .remaining = level_ < 0 ? 0 : static_cast<int64_t>(level_ / period_),
            .retry_after_ns = retry_after_ns,
            .reset_after_ns = level_ >= full() ? 0 : ceil_divide(full() - level_, count_),
            .changed = changed};
  }

  int128 count_, period_, capacity_;
  int128 level_ = 0;
  int64_t now_ns_;
};

}  // namespace weir::algorithms::testing
