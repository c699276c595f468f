// The shards of a cluster as its clients are shown them: this server's, made of what its members
// tell, and the others, made of what was heard of them.
#pragma once

#include <string_view>
#include <vector>

#include "server/cluster/slot_map.h"
#include "server/config/config.h"
#include "server/core/shard/membership.h"

namespace weir::server {

// Has the slots of the membership. Its primary is the one that the log names, as far as this member
// follows the log; a member that does not goes by what the others say of themselves. As long as
// nobody is named, it is the last one that was known, so that no slot vanishes from the map of a
// member that has just started; nobody is led there, for it may have ended. Members tell one port
// each: one whose port is the same as this server's is taken to have the same tls-port, until it
// has told its own. REQUIRES: the membership has begun.
ShownShard shown_shard(const Membership& membership, const Config& config);

// The others that are known, `cluster` being the cluster's id. A node's id that is shown already,
// in `own` or in another shard, as that of a copied directory, has another one in its place.
std::vector<ShownShard> other_shards(const std::vector<KnownShard>& known, std::string_view cluster,
                                     const ShownShard& own = {});

}  // namespace weir::server
