// RL.TAKE, RL.PEEK and CL.THROTTLE: a request goes one way, and the other commands that take go it
// too.
//
//     recall    a request with an ID that was granted before is answered as it was (remembered.h)
//     resolve   the key is read, and the request's limits are named in it (resolve.h)
//     queue     those who wait for the key come first (queue.h)
//     decide    the limits' verdict and the charge (decide.h)
//     record    the key is written, the verdict counted (record.h)
//     answer    the reply, remembered under the ID (answer.h)
//
// A key of the common case takes the steps from resolve to record at once (single.h).
#pragma once

#include <optional>
#include <string_view>

#include "server/command/error_replied.h"
#include "server/limiter/take/decide.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// Takes as RL.TAKE does, and replies.
void take(Call& call, std::string_view key, const LimiterRequest& request);
// Replies as RL.PEEK does. A request without limits and policy is about those that the key was
// last used with.
void peek_at(Call& call, std::string_view key, const LimiterRequest& request);

// Takes the steps from resolve to record, whatever the key holds.
Result<Answer, ErrorReplied> take_any(Call& call, std::string_view key,
                                      const LimiterRequest& request);

// Denies a request that would have to stand in the key's queue; nothing if it would not. It counts
// nothing. REQUIRES: the limiter has its limits named.
std::optional<Decision> denied_by_queue(Call& call, Limiter& limiter,
                                        const LimiterRequest& request);

}  // namespace weir::server
