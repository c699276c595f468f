// The step `decide` of a request (take.h): the verdict of its limits, and the charge, on the
// decoded limiters.
//
// It must not write a key's record: that is record.h. Entries that a charge changes are elements of
// the key and change at once, so a decision that has changed something has to be recorded.
#pragma once

#include <optional>
#include <span>

#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

struct Decision {
  Answer answer;
  int64_t cost = 0;      // the largest cost among the limits, after UPTO
  bool changed = false;  // the key has to be written
};

// One key of a request that is about several.
struct DecidedKey {
  Limiter& limiter;
  const LimiterRequest& request;  // with the costs of this key's limits
  // A decision that stands whatever the limits say: those who wait for the key come first.
  std::optional<Decision> stands = {};
  Decision decision = {};  // the answer
};

// The answer of limits that are enforced to a request, without what only a take is given: a charge,
// a lease, a hold. The guards are those of the limits that are named.
Answer answer_of(const Call& call, const NamedLimits& named, const LimiterRequest& request,
                 std::span<const algorithms::Guard> guards, const algorithms::AllVerdict& verdict);
int64_t largest_cost(std::span<const algorithms::Guard> guards);
bool any_changed(std::span<const algorithms::Guard> guards);

// Charges all limits that the limiter has named, or none.
Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request);
// Tells whether a key's answer denies the whole request. With SHADOW, `shadow`, it would: then the
// keys are tried together, too.
inline bool denies(const Answer& answer, bool shadow) {
  return !answer.verdict.allowed && (!answer.shadow || shadow);
}
// Answers the index of the key that denies, by the longest wait, ties to the first; -1 if all
// allow. `shadow`: with SHADOW.
int64_t denier(std::span<const Answer> answers, bool shadow);
// Charges all limits that the limiters of all keys have named, or none; only what is in shadow
// denies nobody. REQUIRES: the requests differ in their costs and policies alone.
void decide(Call& call, std::span<DecidedKey> keys);
// Answers what decide() would, and changes nothing.
Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request);
// Puts into the answer what each named limit says as it is, under the names that the answer's rows
// have already, or else under the request's.
void add_rows(Call& call, Limiter& limiter, Answer* answer);

}  // namespace weir::server
