// RL.MTAKE: limits for each of several keys, from all keys or from none. Each key goes the way
// of RL.TAKE (take.h); only the decision is common.
#pragma once

#include <span>
#include <string_view>

#include "server/limiter/policy/request.h"

namespace weir::server {

// Takes and replies. REQUIRES: there are keys, and no two are the same.
void take_many(Call& call, std::span<const std::string_view> keys, const LimiterRequest& request);

}  // namespace weir::server
