// What a policy makes of a request other than by its limits: one that is UNLIMITED or BLOCKED
// answers itself, and one in SHADOW tells what its limits would have said.
//
// A policy in shadow that stands alone makes the request one with SHADOW. Among limits that are not
// the policy's it is taken from apart: those decide, and what they grant is asked of the policy's
// limits as well, which are charged all or none. FORCE takes in any case, and so from all.
#pragma once

#include <span>
#include <vector>

#include "algorithms/take_all.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// Tells whether no limit decides: BLOCKED, or UNLIMITED without limits beside it.
bool has_fixed_answer(const NamedLimits& named);
inline bool has_fixed_answer(const Limiter& limiter) { return has_fixed_answer(limiter.names()); }
// What is decided then. BLOCKED denies every cost, 0 as well, and FORCE.
Answer fixed_answer(const Limiter& limiter, const LimiterRequest& request, bool peeks);

// Tells whether the request is decided in shadow as a whole: by its own word, or by its policy's.
bool is_shadowed(const Limiter& limiter, const LimiterRequest& request);
// Tells whether it is answered at once, and never stands in a queue.
bool never_waits(const Limiter& limiter, const LimiterRequest& request);
// Tells whether the limit at `index` is a policy's in shadow.
bool is_watched(const NamedLimits& named, size_t index);

// Takes from all guards, those of a policy in shadow apart.
struct TakenApart {
  algorithms::AllVerdict verdict;  // of those that count, if there are such
  // They allow, and the policy's do not: the algorithm of the one that decides. Else null.
  const algorithms::Algorithm* shadow_denier = nullptr;
};
TakenApart take_apart(const Limiter& limiter, std::span<algorithms::Guard> guards,
                      const algorithms::AllRequest& all);

// Takes from `states`, one for each named limit, what a policy in shadow has of them, all or none.
// If none, their costs in the request are 0, and the answer is the algorithm of the limit that
// decided. It is null where all was taken, and where there is no such policy.
const algorithms::Algorithm* take_watched(Call& call, Limiter& limiter, LimiterRequest* request,
                                          std::span<algorithms::State> states);

// The limits that a request waits for, with its costs of them.
struct CountedPart {
  std::vector<algorithms::Limit> limits;
  LimiterRequest request;
};
CountedPart counted_part(const NamedLimits& named, std::span<const algorithms::Limit> limits,
                         const LimiterRequest& request);

}  // namespace weir::server
