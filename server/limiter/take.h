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

// Resolves the limits that a request is about. Nothing: an error has been replied (no such policy,
// a wrong number of costs, FORCE where it means nothing).
std::optional<NamedLimits> resolve_limits(Call& call, const LimiterRequest& request);

// The same without checks or replies: null if there is no such policy.
const std::vector<algorithms::Limit>* limits_of(Call& call, const LimiterRequest& request);

// The answer for one key.
struct Answer {
  algorithms::Verdict verdict;  // the verdict of the deciding limit
  int64_t index = 0;            // the index of the deciding limit
  bool allowed = false;
  bool charged = false;
  int64_t granted = 0;                   // permits, with UPTO
  bool leases = false;                   // a limit is CONCURRENCY
  std::optional<int64_t> lease_id = {};  // the lease that was made
};

// Takes from a key of the common case (single.h) without reading the rest. Nothing if it is not
// such a key, or if the request wants more than to take.
std::optional<Answer> take_fast(Call& call, std::string_view key, const LimiterRequest& request);

// Decides a request, charges all limits or none, and saves what changed. `peek` changes nothing.
Answer take(Call& call, Limiter& limiter, const LimiterRequest& request, bool peek);

// Writes what has to be remembered of a request that a peek has denied: the first look at a bucket
// that starts low, and changed parameters.
void save_denied(Call& call, Limiter& limiter);

// Replies the six integers, and after them what UPTO and CONCURRENCY add.
void reply_answer(Call& call, const Answer& answer, bool upto);

// Counts a verdict in the statistics and in the sketches that RL.TOP reads.
void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t permits);
void count_denial(Call& call, const Limiter& limiter);

// Answers the verdict on `limits` as they are, for a request of cost 0.
Answer look(Call& call, Limiter& limiter, std::span<HeldLimit> limits);

// Answers -1 for never, else rounds up.
int64_t milliseconds_up(int64_t duration_ns);
int64_t seconds_up(int64_t duration_ns);

}  // namespace weir::server
