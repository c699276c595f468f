// The step `record` of a request (take.h): a decision is written to its key, and counted.
#pragma once

#include "server/limiter/counts/top_keys.h"
#include "server/limiter/take/decide.h"

namespace weir::server {

// Saves what the decision changed, and counts it.
void record(Call& call, Limiter& limiter, const Decision& decision);

// What is counted for a key: its name, and the counts of the policy that the request has named;
// null: it has named none.
struct CountedKey {
  TopKeys::Name name;
  PolicyCounts* counts;
};
// Counts a decision, which changes nothing.
void count_decision(Call& call, const CountedKey& key, const Decision& decision);

// Saves what has to be remembered of a request that was denied without a charge: the first look at
// a bucket that starts low, and changed parameters. It counts nothing.
void record_denied(Call& call, Limiter& limiter);

// Count a verdict in the statistics and in the sketches that RL.TOP reads, and tell who listens.
// One of a request with SHADOW is counted apart, and told to nobody. `algorithm`: the id of that of
// the limit that decided; 0: no limit did.
void count_verdict(Call& call, const TopKeys::Name& name, const algorithms::Verdict& verdict,
                   int64_t cost, uint8_t algorithm);
void count_shadow_verdict(Call& call, const TopKeys::Name& name, bool allowed, int64_t cost,
                          uint8_t algorithm);
// Counts an answer that denies, or, with `shadow`, would deny.
void count_denial(Call& call, const CountedKey& key, const Answer& answer, bool shadow = false);
void count_denial(Call& call, const Limiter& limiter, const Answer& answer, bool shadow = false);

// Counts a verdict for the policy that the request has named; null: it has named none.
struct PolicyVerdict {
  bool allowed = true;
  bool shadow_denies = false;
  bool banned = false;
};
void count_for_policy(Call& call, PolicyCounts* counts, const PolicyVerdict& verdict);

TopKeys::Name name_of(const Call& call, const Limiter& limiter);

}  // namespace weir::server
