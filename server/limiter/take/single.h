// The common case, fast: a key with just the limits that the request names, under the parameters
// they are stored with, all of constant size. Only their states are read, and nothing is allocated.
//
// All other cases (entries, bans, other parameters, a policy that has changed, what another program
// left, a queue) belong to take.h.
//
// What is given up is having one way alone; the tests run both.
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/limiter/take/answer.h"

namespace weir::server {

// These take the steps from resolve to record (take.h). Nothing, and nothing has happened: it is
// not the common case, or the key cannot be used so.

// Of one limit that the request has written itself. REQUIRES: cost >= 0.
std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key,
                                               const algorithms::Limit& limit, int64_t cost);
// Of a few limits, by policy too. REQUIRES: the request has no UPTO, FORCE, SHADOW and HOLD.
std::optional<Answer> take_few(Call& call, std::string_view key, const LimiterRequest& request);

}  // namespace weir::server
