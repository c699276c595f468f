// The second step of a request: the verdict of its limits, and the charge, on the decoded limiter.
//
// It must not write the key's record: that is record.h. Entries that a charge changes are elements
// of the key and change at once, so a decision that has changed something has to be recorded.
#pragma once

#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

struct Decision {
  Answer answer;
  int64_t cost = 0;      // the largest cost among the limits, after UPTO
  bool changed = false;  // the key has to be written
};

// Charges all limits that the limiter has named, or none.
Decision decide(Call& call, Limiter& limiter, const LimiterRequest& request);
// Answers what decide() would, and changes nothing.
Answer peek(Call& call, Limiter& limiter, const LimiterRequest& request);
// Puts into the answer what each named limit says as it is, under the names that the answer's rows
// have already, or else under the request's.
void add_rows(Call& call, Limiter& limiter, Answer* answer);

}  // namespace weir::server
