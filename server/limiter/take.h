// One request against one limiter: what RL.TAKE, PEEK, MTAKE, ACQUIRE and REFUND have in common.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/take_all.h"
#include "server/limiter/limiter.h"
#include "server/limiter/request.h"
#include "server/limiter/top_keys.h"

namespace weir::server {

// The limits that a request is about. Nothing: an error has been replied (no such policy, costs
// that do not fit, FORCE where it cannot be).
std::optional<NamedLimits> resolve_limits(Call& call, const LimiterRequest& request);

// Without checks or replies: null where there is no such policy.
const std::vector<algorithms::Limit>* limits_of(Call& call, const LimiterRequest& request);

// What is answered for one key.
struct Answer {
  algorithms::Verdict verdict;  // of the deciding limit
  int64_t index = 0;            // of it
  bool allowed = false;
  bool charged = false;
  int64_t granted = 0;                   // permits, with UPTO
  bool leases = false;                   // a limit is CONCURRENCY
  std::optional<int64_t> lease_id = {};  // of the lease made
};

// The same for a key of the common case (single.h), without reading the rest: nothing when it is
// not one, or the request wants more than to take.
std::optional<Answer> take_fast(Call& call, std::string_view key, const LimiterRequest& request);

// Decides a request, charges all limits or none, and saves what changed. `peek` changes nothing.
Answer take(Call& call, Limiter& limiter, const LimiterRequest& request, bool peek);

// Writes what has to be remembered of a request that was denied by a peek: the first sight of a
// bucket that starts low, and changed parameters.
void save_denied(Call& call, Limiter& limiter);

// The six integers, and behind them what UPTO and CONCURRENCY add.
void reply_answer(Call& call, const Answer& answer, bool upto);

// Statistics, and the sketches behind RL.TOP.
void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t permits);
void count_denial(Call& call, const Limiter& limiter);

// The verdict on `limits` as they stand, for a request of no cost.
Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits);

// -1 for never, else rounded up.
int64_t milliseconds_up(int64_t duration_ns);
int64_t seconds_up(int64_t duration_ns);

}  // namespace weir::server
