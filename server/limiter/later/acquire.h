// RL.ACQUIRE: takes permits as soon as they are there.
//
// It goes the way of RL.TAKE (take/take.h), and goes it again each time that it is tried. A request
// that cannot take at once stands in the key's queue (take/queue.h). Only the head is tried: at the
// instant that its denial has named, and whenever a command has touched the key.
//
// LEAKY is a queue already: a request that its funnel lets in has taken its permits and has a
// departure; only the reply waits (departure.h).
//
// A request with an ID has a ticket (take/remembered.h): if its connection is lost, its place is
// passed over, and is its own again when it is asked again. A session that asks with an ID under
// which another waits takes over its place.
//
// Invariants
// 1. Permits are taken in the command that grants them, never before, so nothing has to be given
//    back for a client that left the queue. A departure is booked, and cancelled if the client
//    leaves without an ID; if it is cancelled otherwise, the client is denied.
// 2. A wait that is refused at once has taken nothing: its place in the queue is computed on
//    copies.
#pragma once

#include <string_view>

#include "server/limiter/policy/request.h"

namespace weir::server {

// Replies, or makes the session wait.
void acquire(Call& call, std::string_view key, const LimiterRequest& request);

}  // namespace weir::server
