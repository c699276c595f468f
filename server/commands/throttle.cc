// CL.THROTTLE and THROTTLE: the dialects of redis-cell and throttlecrab over a GCRA limiter.
//
// Their quirks are in this file only: polarity, the order of fields, seconds rounded up, -1 for
// "not limited" and "never".
#include "server/limiter/take/throttle.h"

#include <algorithm>
#include <string>

#include "algorithms/gcra.h"
#include "algorithms/words.h"
#include "resp/numbers.h"
#include "server/command/command_errors.h"
#include "server/command/error_replied.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/take/answer.h"

namespace weir::server {
namespace {

struct ThrottleQuestion {
  algorithms::ThrottleArgs rate;
  int64_t cost = 1;
};

std::string integer_error(std::string_view text, std::string_view name) {
  return "ERR " + std::string(name) + " must be an integer, got '" + algorithms::shown(text) + "'";
}

// Reads "key max_burst count period [quantity]": what these dialects call quantity is the cost.
Result<ThrottleQuestion, std::string> parse(const Call& call, std::string_view count_name) {
  const Args args = call.args;
  if (args.size() > 6) return arity_error(call.command);
  ThrottleQuestion question;
  struct Slot {
    std::string_view name;
    int64_t* value;
  };
  const Slot slots[] = {{"max_burst", &question.rate.max_burst},
                        {count_name, &question.rate.count},
                        {"period", &question.rate.period_s},
                        {"quantity", &question.cost}};
  for (size_t i = 2; i < args.size(); ++i) {
    const auto number = resp::parse_int64(args[i]);
    if (!number) return integer_error(args[i], slots[i - 2].name);
    *slots[i - 2].value = *number;
  }
  return question;
}

// Answers the limit that a rate makes.
Result<const algorithms::Limit*, ErrorReplied> limit_of(Call& call,
                                                        const algorithms::ThrottleArgs& rate) {
  LastThrottle& last = call.limiters.last_throttle;
  if (last.limit.algorithm != nullptr && last.rate == rate) return &last.limit;
  const auto limit = algorithms::gcra_limit_from_throttle(rate);
  if (!limit) return reply_error(call, "ERR " + limit.error().text());
  last = {.rate = rate, .limit = *limit};
  return &last.limit;
}

// The dialects know no debt, which RL.TAKE with FORCE makes.
int64_t remaining_of(const algorithms::Verdict& verdict) {
  return std::max<int64_t>(verdict.remaining, 0);
}

int64_t retry_seconds(const algorithms::Verdict& verdict, int64_t when_allowed) {
  return verdict.allowed ? when_allowed : seconds_up(verdict.retry_after_ns);
}

void cl_throttle(Call& call) {
  const auto question = parse(call, "count");
  if (!question) return call.reply.error(question.error());
  const auto limit = limit_of(call, question->rate);
  if (!limit) return;
  const auto verdict = server::throttle(call, call.args[1], **limit, question->cost);
  if (!verdict) return;
  call.reply.integers({verdict->allowed ? 0 : 1, verdict->limit, remaining_of(*verdict),
                       retry_seconds(*verdict, -1), seconds_up(verdict->reset_after_ns)});
}

void throttle(Call& call) {
  auto question = parse(call, "count_per_period");
  if (!question) return call.reply.error(question.error());
  if (question->rate.max_burst < 1) {
    return call.reply.error("ERR max_burst must be at least 1, got '" + std::string(call.args[2]) +
                            "'");
  }
  if (question->cost < 0) {
    return call.reply.error("ERR quantity must be at least 0, got '" + std::string(call.args[5]) +
                            "'");
  }
  question->rate.max_burst -= 1;  // in this dialect max_burst is the capacity itself
  const auto limit = limit_of(call, question->rate);
  if (!limit) return;
  const auto verdict = server::throttle(call, call.args[1], **limit, question->cost);
  if (!verdict) return;
  call.reply.integers({verdict->allowed ? 1 : 0, verdict->limit, remaining_of(*verdict),
                       seconds_up(verdict->reset_after_ns), retry_seconds(*verdict, 0)});
}

void use_of_throttle(Args args, LimitUse* use) { add_dialect_use(args, 5, use); }

constexpr Command kThrottleCommands[] = {
    {.name = "cl.throttle",
     .arity = -5,
     .flags = kWrites | kFast | kDenyOom | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .usage = "key max_burst count period [quantity]",
     .summary = "Takes permits from a GCRA limiter: limited 0 or 1, limit, remaining, retry after, "
                "reset after (seconds).",
     .since = "weir 0.1",
     .run = cl_throttle,
     .limit_use = use_of_throttle},
    {.name = "rl.throttle",
     .arity = -5,
     .flags = kWrites | kFast | kDenyOom | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .usage = "key max_burst count period [quantity]",
     .summary = "CL.THROTTLE by another name.",
     .since = "weir 0.1",
     .run = cl_throttle,
     .limit_use = use_of_throttle},
    {.name = "throttle",
     .arity = -5,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kNo,
     .group = "ratelimit",
     .usage = "key max_burst count_per_period period [quantity]",
     .summary = "Takes permits from a GCRA limiter: allowed 1 or 0, limit, remaining, reset after, "
                "retry after (seconds).",
     .since = "weir 0.1",
     .run = throttle,
     .limit_use = use_of_throttle},
};

}  // namespace

Commands throttle_commands() { return kThrottleCommands; }

}  // namespace weir::server
