// What a member is doing in its shard. DO NOT CHANGE the numbers: they stand in the member
// registry, but kLeaving, which has words of its own there (FORMAT.md).
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
  kLeaving = 6,  // its process ends; told to others, and never a state of the protocol
};

}  // namespace weir::storage::replication
