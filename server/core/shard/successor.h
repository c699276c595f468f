// Who becomes a shard's primary where nobody is named.
#pragma once

#include <cstdint>
#include <vector>

#include "server/core/shard/membership.h"

namespace weir::server {

// The standby that has most turns, of those that have told of themselves within `age_ms_max`; null:
// there is none.
inline const MemberSeen* successor_of(const std::vector<MemberSeen>& members,
                                      int64_t age_ms_max = INT64_MAX) {
  const MemberSeen* best = nullptr;
  for (const MemberSeen& member : members) {
    const bool can = member.is_standby && !member.is_self && member.age_ms <= age_ms_max;
    if (can && (best == nullptr || member.turn > best->turn)) best = &member;
  }
  return best;
}

}  // namespace weir::server
