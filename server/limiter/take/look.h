// The verdict on the limits of a key as they are, for who asks for nothing of them.
//
// It must not change a state, and not write the key's record.
#pragma once

#include <span>

#include "algorithms/take_all.h"
#include "base/fixed_vector.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// The limits of a key, as take_all() takes them.
using Guards = FixedVector<algorithms::Guard, algorithms::kLimitsMax>;

// One limit of a key, as take_all() takes it. It points into both.
algorithms::Guard guard_of(Limiter& limiter, HeldLimit& held, int64_t cost);

// Answers for the limit with the least rest; a debt is a rest below 0.
Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits);

}  // namespace weir::server
