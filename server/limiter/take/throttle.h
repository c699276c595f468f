// CL.THROTTLE, THROTTLE and GCRA: one GCRA limit at a key, whatever else the key holds.
#pragma once

#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command/error_replied.h"

namespace weir::server {

// Takes the cost from the limit, a GCRA, as RL.TAKE does (take.h); reads when the cost is 0, and
// gives permits back when it is negative.
Result<algorithms::Verdict, ErrorReplied> throttle(Call& call, std::string_view key,
                                                   const algorithms::Limit& limit, int64_t cost);

}  // namespace weir::server
