// The last step of a request: what it is answered.
//
// The wire's rounding and order of fields are here: milliseconds are rounded up, -1 is never.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/algorithm.h"
#include "server/command/command.h"
#include "server/limiter/request.h"

namespace weir::server {

// The answer for one key.
struct Answer {
  algorithms::Verdict verdict;  // the verdict of the deciding limit
  int64_t index = 0;            // the index of the deciding limit
  bool allowed = false;
  bool charged = false;
  bool shadow = false;                   // allowed in any case
  int64_t granted = 0;                   // the cost charged, with UPTO
  bool leases = false;                   // a limit is CONCURRENCY
  std::optional<int64_t> lease_id = {};  // the lease that was made
};

// Writes the six integers, and after them what UPTO and CONCURRENCY add.
void write_answer(resp::ReplyWriter& out, const Answer& answer, bool upto);
void reply_answer(Call& call, const Answer& answer, bool upto);
// The same for a request that may have an ID: what was charged is remembered under it.
void answer_request(Call& call, std::string_view key, const LimiterRequest& request,
                    const Answer& answer);

// Answers -1 for never, else rounds up.
int64_t milliseconds_up(int64_t duration_ns);
int64_t seconds_up(int64_t duration_ns);

}  // namespace weir::server
