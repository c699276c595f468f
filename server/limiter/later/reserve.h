// RL.RESERVE: the way of RL.TAKE (take/take.h), with a booking in place of the charge (bookings.h).
#pragma once

#include <string_view>

#include "server/limiter/policy/request.h"

namespace weir::server {

// Books and replies.
void reserve(Call& call, std::string_view key, const LimiterRequest& request);

}  // namespace weir::server
