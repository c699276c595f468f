// GCRA: the command that Redisson's RGcra and StackExchange.Redis call, which name the permits
// asked for TOKENS and NUM_REQUESTS. It is another form of the limiter of CL.THROTTLE.
//
//     GCRA key max_burst tokens_per_period period [TOKENS n | NUM_REQUESTS n]
//
// It answers [limited 0 or 1, max_burst + 1, available, retry after or -1, full again after]. The
// period is a number of seconds with a fraction, both durations are whole seconds.
#include "algorithms/gcra.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/ascii.h"
#include "base/result.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/throttle.h"

namespace weir::server {
namespace {

constexpr std::string_view kNotPositive = "ERR value is out of range, must be positive";
constexpr double kPeriodBoundS = 1e12;  // as the error line says
constexpr std::string_view kBadPeriod = "ERR period must be > 0 and < 1e12";

struct GcraQuestion {
  int64_t max_burst = 0;
  int64_t count = 0;
  double period_s = 0;
  int64_t tokens = 1;
};

Result<void, std::string_view> parse_integer(std::string_view text, int64_t least, int64_t* value) {
  const auto number = resp::parse_int64(text);
  if (!number) return kNotAnInteger;
  if (*number < least) return kNotPositive;
  *value = *number;
  return {};
}

Result<void, std::string_view> parse(Args args, GcraQuestion* question) {
  if (auto read = parse_integer(args[2], 0, &question->max_burst); !read) return read;
  if (auto read = parse_integer(args[3], 1, &question->count); !read) return read;
  const auto period_s = resp::parse_double(args[4]);
  if (!period_s) return kNotAFloat;
  if (!(*period_s > 0 && *period_s < kPeriodBoundS)) return kBadPeriod;
  question->period_s = *period_s;
  if (args.size() == 5) return {};
  const bool is_tokens = equals_ignoring_case(args[5], "TOKENS");
  if (!is_tokens && !equals_ignoring_case(args[5], "NUM_REQUESTS")) return kSyntaxError;
  if (args.size() == 6)
    return is_tokens ? "ERR Missing TOKENS value" : "ERR Missing NUM_REQUESTS value";
  if (args.size() > 7) return kSyntaxError;
  return parse_integer(args[6], 1, &question->tokens);
}

// Numbers outside the ranges of a limit are refused, never rounded into them.
Result<algorithms::Limit, std::string> limit_of(const GcraQuestion& question) {
  const double period_ns = std::round(question.period_s * kNsPerS);
  const bool fits = period_ns >= static_cast<double>(algorithms::kPeriodNsMin) &&
                    period_ns <= static_cast<double>(algorithms::kPeriodNsMax);
  if (!fits) {
    return "ERR overflow: period must be between " +
           resp::format_long_double_human(static_cast<long double>(algorithms::kPeriodNsMin) /
                                          kNsPerS) +
           " and " + std::to_string(algorithms::kPeriodNsMax / kNsPerS);
  }
  if (question.max_burst >= algorithms::kCapacityMax) {
    return "ERR overflow: max_burst must be at most " +
           std::to_string(algorithms::kCapacityMax - 1);
  }
  const auto limit = algorithms::make_limit({.algorithm = &algorithms::algorithm_gcra,
                                             .count = question.count,
                                             .period_ns = static_cast<int64_t>(period_ns),
                                             .capacity = question.max_burst + 1});
  if (!limit) return "ERR overflow: " + limit.error().text();
  return *limit;
}

void gcra(Call& call) {
  GcraQuestion question;
  if (const auto parsed = parse(call.args, &question); !parsed)
    return call.reply.error(parsed.error());
  const auto limit = limit_of(question);
  if (!limit) return call.reply.error(limit.error());
  const auto verdict = throttle(call, call.args[1], *limit, question.tokens);
  if (!verdict) return;
  call.reply.integers({verdict->allowed ? 0 : 1, verdict->limit,
                       std::max<int64_t>(verdict->remaining, 0),
                       verdict->allowed ? -1 : seconds_up(verdict->retry_after_ns),
                       seconds_up(verdict->reset_after_ns)});
}

void use_of_gcra(Args args, LimitUse* use) { add_dialect_use(args, 6, use); }

constexpr Command kGcraCommands[] = {
    {.name = "gcra",
     .arity = -5,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody | kTakes,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key max_burst tokens_per_period period [TOKENS count | NUM_REQUESTS count]",
     .summary = "Takes permits from a GCRA limiter: limited 0 or 1, limit, available, retry after, "
                "full again after (seconds).",
     .since = "weir 0.1",
     .run = gcra,
     .limit_use = use_of_gcra},
};

}  // namespace

Commands gcra_commands() { return kGcraCommands; }

}  // namespace weir::server
