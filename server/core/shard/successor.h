// Who becomes a shard's primary where nobody is named.
#pragma once

#include <vector>

#include "server/core/shard/membership.h"

namespace weir::server {

// The standby that has most turns; null: there is none.
inline const MemberSeen* successor_of(const std::vector<MemberSeen>& members) {
  const MemberSeen* best = nullptr;
  for (const MemberSeen& member : members) {
    if (member.is_standby && !member.is_self && (best == nullptr || member.turn > best->turn))
      best = &member;
  }
  return best;
}

}  // namespace weir::server
