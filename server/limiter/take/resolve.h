// The step `resolve` of a request (take.h): which limits of which key it is about.
#pragma once

#include <string>
#include <string_view>

#include "server/limiter/policy/request.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// Answers the limits that were asked for of the key, with the policy's in its place: it exists, the
// limits are not too many for a key, and no two are called alike. They are valid as long as what
// was asked is, and until a policy changes.
Result<NamedLimits, std::string> expand(Call& call, std::string_view key, const AskedLimits& asked);
// The same for a request, which fits them as well (policy/request.h).
Result<NamedLimits, std::string> limits_of(Call& call, std::string_view key,
                                           const LimiterRequest& request);

// Reads the key and names the request's limits in it.
Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request);
// The same with what limits_of() has answered for the request.
Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request,
                                      const Result<NamedLimits, std::string>& limits);

}  // namespace weir::server
