// Random elements of a collection: HRANDFIELD, SRANDMEMBER, ZRANDMEMBER.
#pragma once

#include <cstdint>
#include <functional>

#include "server/command/command.h"
#include "server/types/collection.h"

namespace weir::server {

// How many elements may be asked for with repetitions.
inline constexpr int64_t kRepeatedPicksMax = 1 << 20;

// Picks one element. REQUIRES: the collection is not empty.
storage::Element pick(Call& call, const Collection& collection);

// Answers how many elements pick_some() visits. A positive count asks for that many different ones,
// a negative one for so many with repetitions, which may be too many.
Result<size_t, ErrorReplied> picks_of(Call& call, const Collection& collection, int64_t count);

// Visits elements: in their own order if all are asked for, else in any order.
void pick_some(Call& call, const Collection& collection, int64_t count,
               const std::function<void(const storage::Element&)>& visit);

}  // namespace weir::server
