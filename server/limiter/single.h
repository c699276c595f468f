// The common case, fast: a key with one limit, of constant size, under the parameters it is stored
// with. Nothing is allocated.
//
// Everything else (several limits, entries, other parameters, a policy, what another program left)
// is limiter.h's.
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command.h"

namespace weir::server {

struct SingleLimit {
  storage::Ref ref;
  algorithms::State state;
};

// Nothing: it is not the common case, or the key cannot be used so; nothing was replied.
std::optional<SingleLimit> load_single(Call& call, std::string_view key,
                                       const algorithms::Limit& limit);
// Writes the state with its TTL, or nothing where it is full.
void save_single(Call& call, SingleLimit* single, const algorithms::Limit& limit);

// Takes `quantity` permits of one GCRA limit kept at `key` (reads when 0, gives back when
// negative), whatever else the key holds. Answers nothing when it has replied an error itself.
std::optional<algorithms::Verdict> run_gcra(Call& call, std::string_view key,
                                            const algorithms::Limit& limit, int64_t quantity);

}  // namespace weir::server
