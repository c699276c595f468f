// RL.ACQUIRE: takes permits as soon as they are there.
//
// A request that cannot take at once stands in the key's queue (server/waiting), first come, first
// served. Only the head is tried: at the instant that its denial has named, and whenever a command
// has touched the key. While there is a queue, TAKE and RESERVE are denied, so that they do not
// overtake it.
//
// LEAKY is a queue already: a request that its funnel lets in has taken its permits and has a
// departure; only the reply waits.
//
// Invariants
// 1. Permits are taken in the command that grants them, never before, so nothing has to be given
//    back for a client that left the queue. A departure is booked, and cancelled if the client
//    leaves.
// 2. A wait that is refused at once has taken nothing: its place in the queue is computed on
//    copies.
// 2. A wait that is refused at once has taken nothing.
#pragma once

#include <string_view>

#include "server/limiter/take.h"
#include "server/waiting/waiting.h"

namespace weir::server {

// Tells whether a session waits to take from this key.
bool has_queue(Call& call, std::string_view key);

// Denies a request that would have to stand at the end of the queue: remaining is 0, and
// retry_after is the wait until all before it and itself have been served. Only the request's costs
// matter: the limits are those that the limiter has named. Nothing is counted. REQUIRES:
// has_queue(), and the limiter has its limits named.
Answer behind_queue(Call& call, Limiter& limiter, const LimiterRequest& request);

// Replies, or makes the session wait.
void acquire(Call& call, std::string_view key, LimiterRequest request);

}  // namespace weir::server
