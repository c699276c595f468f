// What a policy, a request's SHADOW or FORCE and the option `limiting` make of a request other than
// by its limits: a policy that is UNLIMITED or BLOCKED answers itself, and limits in shadow only
// say what they would (algorithms/take_all.h).
//
// Each named limit is enforced or in shadow by its policy and by `limiting` (HeldLimit::mode).
// SHADOW puts all limits of the request into shadow, and FORCE none: it takes in any case, and so
// from all.
#pragma once

#include <span>
#include <vector>

#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

// Tells whether no limit decides: BLOCKED, or UNLIMITED without limits beside it.
bool has_fixed_answer(const NamedLimits& named);
inline bool has_fixed_answer(const Limiter& limiter) { return has_fixed_answer(limiter.names()); }
// What is decided then. BLOCKED denies every cost, 0 as well, and FORCE.
Answer fixed_answer(const Limiter& limiter, const LimiterRequest& request, bool peeks);

// How a limit that the limiter has named takes part in the request.
algorithms::Mode mode_in(const LimiterRequest& request, const HeldLimit& held);
// Tells whether the request is let pass whatever its limits say: none of them is enforced.
bool enforces_nothing(Limiter& limiter, const LimiterRequest& request);
// Tells whether it is answered at once, and never stands in a queue.
bool never_waits(Limiter& limiter, const LimiterRequest& request);

// The limits that decide about the request, with its costs of them: the enforced ones, or all if
// none is enforced.
struct DecidingPart {
  std::vector<algorithms::Limit> limits;
  std::vector<int64_t> costs;  // one for all limits, or one for each
  std::vector<size_t> places;  // of the limits, among all that the request names

  int64_t cost(size_t limit) const { return costs.size() == 1 ? costs[0] : costs[limit]; }
};
DecidingPart deciding_part(const NamedLimits& named, std::span<const algorithms::Limit> limits,
                           const LimiterRequest& request);

}  // namespace weir::server
