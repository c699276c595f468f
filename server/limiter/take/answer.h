// The step `answer` of a request (take.h): what it is answered.
//
// The wire's rounding and order of fields are here: milliseconds are rounded up, -1 is never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "server/command/command.h"
#include "server/limiter/policy/request.h"

namespace weir::server {

// What one limit says, for FULL.
struct LimitRow {
  std::string name;           // by AS, else its algorithm and number
  bool is_named = false;      // by AS
  bool is_of_policy = false;  // of the policy that the request names
  algorithms::Limit limit;
  algorithms::Verdict verdict;
  // How long no more than `remaining` is to be had; 0: all there can be is there.
  int64_t more_after_ns = 0;
};

// What a request was given.
struct Granted {
  int64_t cost = 0;                   // what was charged; the largest of several limits
  std::optional<int64_t> lease = {};  // the id of the lease that was made
  int64_t lease_ns = 0;               // how long it lasts; the shortest of several limits
  std::optional<int64_t> hold = {};   // the id of the hold that was made; also the lease's
};

// Which ids the reply to such a request has a place for.
struct ReplyShape {
  bool lease = false;  // a limit is CONCURRENCY
  bool hold = false;   // with HOLD
};

// A ban that denies.
struct RunningBan {
  size_t limit = 0;  // in the limiter's all(): named ones first
  int64_t rest_ns = 0;
};

// The answer for one key.
struct Answer {
  algorithms::Verdict verdict;  // the verdict of the deciding limit
  int64_t index = 0;            // the index of the deciding limit
  // Of the deciding limit; null: no limit decides, but a policy that blocks or lets all pass.
  const algorithms::Algorithm* algorithm = nullptr;
  bool allowed = false;
  bool charged = false;
  bool shadow = false;  // allowed in any case: no limit is enforced
  // Limits in shadow beside enforced ones deny what those allow: the deciding one's; else null.
  const algorithms::Algorithm* shadow_denier = nullptr;
  std::optional<RunningBan> ban = {};
  Granted granted = {};
  ReplyShape shape = {};
  std::vector<LimitRow> rows = {};  // with FULL

  // Limits that only say what they would deny it.
  bool shadow_denies() const { return shadow_denier != nullptr || (shadow && !verdict.allowed); }
};

// What is answered to a request about several keys.
struct TakenOfEach {
  std::vector<Answer> answers;  // one for each key
  int64_t denied_by = -1;       // the key that denies; -1: all allow
};

// Replies the six integers of a limit that was asked alone, whose number is 0.
void reply_verdict(Call& call, const algorithms::Verdict& verdict);
// Writes the six integers, and after them what UPTO adds, and the id of the lease or the hold.
void write_verdict(resp::ReplyWriter& out, const Answer& answer, bool upto);

// Answers -1 for never, else rounds up.
int64_t milliseconds_up(int64_t duration_ns);
int64_t seconds_up(int64_t duration_ns);

}  // namespace weir::server
