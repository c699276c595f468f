// The common case, fast: a key with one limit of constant size, under the parameters it is stored
// with. Nothing is allocated.
//
// All other cases (several limits, entries, other parameters, a policy, what another program left,
// a queue) belong to take.h.
//
// What is given up is having one way alone; the tests run both.
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command/command.h"

namespace weir::server {

// Takes the steps from resolve to record (take.h). Nothing, and nothing has happened: it is not the
// common case, or the key cannot be used so. `more_after_ns`: where the time until there is more is
// asked for (algorithms::more_after_ns). REQUIRES: cost >= 0.
std::optional<algorithms::Verdict> take_single(Call& call, std::string_view key,
                                               const algorithms::Limit& limit, int64_t cost,
                                               int64_t* more_after_ns = nullptr);

}  // namespace weir::server
