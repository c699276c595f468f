// What every command over a limiter key shares: reading its record, deciding, writing it back.
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command.h"

namespace weir::server {

// Takes `quantity` permits of one GCRA limit kept at `key` (reads when 0, gives back when
// negative). A limiter with other parameters is carried over with what is available; a string that
// redis-cell left is adopted. Answers nothing when it has replied an error itself.
std::optional<algorithms::Verdict> run_gcra(Call& call, std::string_view key,
                                            const algorithms::Limit& limit, int64_t quantity);

}  // namespace weir::server
