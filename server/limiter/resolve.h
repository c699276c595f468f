// The first step of a request: which limits of which key it is about.
#pragma once

#include <string>
#include <string_view>

#include "server/limiter/limiter.h"
#include "server/limiter/request.h"

namespace weir::server {

// Answers the limits that a request is about, with what was checked: its policy exists, and it fits
// the limits (request.h). The pointer is valid as long as the request, and until a policy changes.
Result<NamedLimits, std::string> limits_of(Call& call, const LimiterRequest& request);

// Reads the key and names the request's limits in it.
Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request);

}  // namespace weir::server
