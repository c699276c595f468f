// The common case, fast: a key with one limit of constant size, under the parameters it is stored
// with. Nothing is allocated.
//
// All other cases (several limits, entries, other parameters, a policy, what another program left)
// belong to limiter.h.
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command/command.h"

namespace weir::server {

struct SingleLimit {
  storage::Ref ref;
  algorithms::State state;
};

// Loads a limiter. Nothing: it is not the common case, or the key cannot be used so.
std::optional<SingleLimit> load_single(Call& call, std::string_view key,
                                       const algorithms::Limit& limit);
// Writes the state with its TTL, or nothing if it is full.
void save_single(Call& call, SingleLimit* single, const algorithms::Limit& limit);

}  // namespace weir::server
