// Random elements of a collection: HRANDFIELD, SRANDMEMBER, ZRANDMEMBER.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "server/command.h"
#include "server/types/collection.h"

namespace weir::server {

// Elements that may be asked for with repetitions.
inline constexpr int64_t kRepeatedPicksMax = 1 << 20;

// REQUIRES: the collection is not empty.
storage::Element pick(Call& call, const Collection& collection);

// How many elements pick_some() visits. A positive count asks for that many different ones, a
// negative one for so many with repetitions. Answers nothing after replying that those are too
// many.
std::optional<size_t> picks_of(Call& call, const Collection& collection, int64_t count);

// Visits them: all of them in their own order where all are asked for, else in any.
void pick_some(Call& call, const Collection& collection, int64_t count,
               const std::function<void(const storage::Element&)>& visit);

}  // namespace weir::server
