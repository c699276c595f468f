#include "storage/replication/failure_detector.h"

#include <algorithm>

namespace weir::storage::replication {

void FailureDetector::new_record(uint64_t random) {
  sum_ns_ = 0;
  spread_ns_ = static_cast<int64_t>(random % kSpreadNs);
  unacknowledged_claims_ = 0;
  had_trouble_ = false;
}

void FailureDetector::successful_read(int64_t boot_ns) {
  if (last_read_ns_) sum_ns_ += std::clamp<int64_t>(boot_ns - *last_read_ns_, 0, kStepMaxNs);
  last_read_ns_ = boot_ns;
}

void FailureDetector::failed_read() {
  sum_ns_ = 0;
  last_read_ns_.reset();
  had_trouble_ = true;
}

void FailureDetector::unacknowledged_claim() {
  sum_ns_ = 0;
  ++unacknowledged_claims_;
}

int64_t FailureDetector::wanted_ns(const Times& own, const Times& current) const {
  int64_t wanted = std::max({own.failover_after_ns, current.failover_after_ns,
                             current.lease_ns + current.lease_ns / 3 + 1});
  wanted += spread_ns_;
  for (int claim = 0; claim < unacknowledged_claims_ && wanted < kDoubledNsMax; ++claim) {
    wanted = std::min(2 * wanted, kDoubledNsMax);
  }
  return had_trouble_ ? wanted + kTroubleNs : wanted;
}

}  // namespace weir::storage::replication
