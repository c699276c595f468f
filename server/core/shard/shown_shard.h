// This server's shard as clients of a cluster are shown it, made of what its members tell.
#pragma once

#include <cstdint>

#include "server/cluster/slot_map.h"
#include "server/config/config.h"
#include "server/core/shard/membership.h"

namespace weir::server {

// Has all slots. Its primary is the one that the log names, as far as this member follows the log;
// a member that does not goes by what the others say of themselves. Members tell one port each: one
// whose port is the same as this server's is taken to have the same tls-port. REQUIRES: the
// membership has begun.
ShownShard shown_shard(const Membership& membership, const Config& config);

}  // namespace weir::server
