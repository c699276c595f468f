#include "storage/replication/early_release.h"

#include "base/check.h"

namespace weir::storage::replication {

bool EarlyReleases::allows(uint64_t permits, size_t uncommitted_bytes, int64_t boot_ns) const {
  if (options_.age_ns_max == 0 || uncommitted_bytes >= options_.uncommitted_bytes_max) return false;
  if (options_.permits_max != 0 && permits_ + permits > options_.permits_max) return false;
  return released_.empty() || boot_ns - released_.front().sealed_boot_ns < options_.age_ns_max;
}

void EarlyReleases::released(uint64_t turn, uint64_t permits, int64_t sealed_boot_ns) {
  WEIR_CHECK(released_.empty() || turn >= released_.back().turn);
  permits_ += permits;
  if (!released_.empty() && released_.back().turn == turn) {
    released_.back().permits += permits;
    return;
  }
  released_.push_back({.turn = turn, .permits = permits, .sealed_boot_ns = sealed_boot_ns});
}

void EarlyReleases::committed(uint64_t turn) {
  while (!released_.empty() && released_.front().turn <= turn) {
    permits_ -= released_.front().permits;
    released_.pop_front();
  }
}

uint64_t EarlyReleases::lose() {
  const uint64_t lost = permits_;
  released_.clear();
  permits_ = 0;
  return lost;
}

}  // namespace weir::storage::replication
