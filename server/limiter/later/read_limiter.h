// A limiter's record, read for who asks whether it can be, and what its lists may hold: RESTORE,
// --check, and whatever else brings records that this process has not made
// (storage/format/meaning.h). Commands read a limiter by take/limiter.h.
#pragma once

#include <array>
#include <string_view>

#include "algorithms/limiter_record.h"
#include "storage/format/meaning.h"

namespace weir::server {

struct ReadLimiter {
  algorithms::RecordHead head;
  std::array<algorithms::LimitState, algorithms::kLimitsMax> limits;  // the first head.limits
  // Of its lists in the order in which the header names them: bookings, holds, then each limit's
  // that keeps entries.
  size_t lists = 0;
  std::array<const storage::ElementRule*, storage::kOwnedListsMax> rules{};
};

// Reads a record that owns so many lists. `limiter` is unspecified where there is a fault.
storage::Fault read_limiter(std::string_view record, size_t lists, const algorithms::Zones& zones,
                            ReadLimiter* limiter);
// The same of a record whose lists nobody has counted.
storage::Fault read_limiter(std::string_view record, const algorithms::Zones& zones,
                            ReadLimiter* limiter);

}  // namespace weir::server
