#include "server/limiter/take/look.h"

namespace weir::server {

using algorithms::Guard;

Guard guard_of(Limiter& limiter, HeldLimit& held, int64_t cost) {
  return {.limit = &held.limit,
          .state = &held.state,
          .entries = limiter.entries_of(held),
          .cost = cost};
}

Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits) {
  Guards guards;
  for (HeldLimit& held : limits) guards.push_back(guard_of(limiter, held, 0));
  const auto verdict =
      algorithms::take_all(guards, {.now_ns = call.now_ns, .peek = true, .wall = &call.wall()});
  return {.verdict = guards[verdict.deciding].verdict,
          .index = static_cast<int64_t>(verdict.deciding),
          .algorithm = guards[verdict.deciding].limit->algorithm,
          .allowed = verdict.allowed};
}

}  // namespace weir::server
