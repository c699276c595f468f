// The common case, fast: a key with just the limits that the request names, under the parameters
// they are stored with. Only their states are read. Of one key nothing is allocated but what
// entries need, and rows for FULL.
//
// All other cases (leases, bans, other parameters, a policy that has changed, what another program
// left, a queue) belong to take.h.
//
// What is given up is having one way alone; the tests run both.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/limiter/policy/named_limits.h"
#include "server/limiter/take/answer.h"

namespace weir::server {

// These take the steps from resolve to record (take.h). Nothing, and nothing has happened: it is
// not the common case, or the key cannot be used so.

// Of one limit that the request has written itself. REQUIRES: cost >= 0.
std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key,
                                               const algorithms::Limit& limit, int64_t cost);
// Of a few limits, by policy too. REQUIRES: the request has no UPTO, FORCE, SHADOW and HOLD;
// `named` is what limits_of() answers for it (resolve.h).
std::optional<Answer> take_few(Call& call, std::string_view key, const NamedLimits& named,
                               const LimiterRequest& request);
// Of a few limits of each of several keys: of all, or of none. REQUIRES: the same; there are as
// many costs as limits, or one, or KEYCOSTS with one for each key; no two keys are the same.
std::optional<TakenOfEach> take_few_of_each(Call& call, std::span<const std::string_view> keys,
                                            std::span<const NamedLimits> named,
                                            const LimiterRequest& request);

}  // namespace weir::server
