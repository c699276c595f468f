#include "storage/replication/primary_clock.h"

#include <algorithm>
#include <cstdlib>

namespace weir::storage::replication {

int64_t PrimaryClock::at(Instants now) {
  const int64_t elapsed_ns = std::max<int64_t>(0, now.boot_ns - from_boot_ns_);
  const int64_t plain_ns = from_ns_ + elapsed_ns;
  const int64_t lead_ns = plain_ns - now.wall_ns;
  const int64_t slew_max_ns = elapsed_ns / 1'000'000 * kSlewPpm;
  const int64_t slew_ns =
      std::min(slew_max_ns, std::max<int64_t>(0, std::abs(lead_ns) - kLeadMaxNs));
  const int64_t instant_ns = lead_ns > 0 ? plain_ns - slew_ns : plain_ns + slew_ns;
  // A wall clock that steps from one side to the other within a step turns the slew round.
  newest_ns_ = std::max(newest_ns_, instant_ns);
  lead_ns_ = newest_ns_ - now.wall_ns;
  if (elapsed_ns >= kStepNs) {
    from_ns_ = newest_ns_;
    from_boot_ns_ = now.boot_ns;
  }
  return newest_ns_;
}

}  // namespace weir::storage::replication
