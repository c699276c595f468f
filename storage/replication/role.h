// What a member is doing in its shard. DO NOT CHANGE the numbers: they stand in the member
// registry.
#pragma once

#include <cstdint>

namespace weir::storage::replication {

enum class Role : uint8_t {
  kJoining = 0,
  kFollowing = 1,
  kClaiming = 2,
  kPrimary = 3,
  kSwitchingOver = 4,
  kStopped = 5,
};

}  // namespace weir::storage::replication
