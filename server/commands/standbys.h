// The standbys of a shard, as clients count replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "server/command/command.h"
#include "server/core/shard/membership.h"

namespace weir::server {

// The standbys that follow this server; none for a server of no shard, and at a standby.
std::vector<MemberSeen> standbys_of(Call& call);

bool is_in_shard(Call& call);
// Whether what was done up to this turn is in the shard's log; always where there is no shard.
bool is_committed(Call& call, uint64_t turn);

// How many standbys count for what was done up to this turn: all that follow once it is committed,
// since it survives this server then, and none before. So it is never 0 for long where INFO shows
// connected_slaves.
int64_t standbys_with(Call& call, uint64_t turn);

// The turn in which everything is that was done up to now. What the running turn has changed gets
// the next number.
uint64_t turn_of_now(Call& call);

}  // namespace weir::server
