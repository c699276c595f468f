// RL.TAKE, RL.PEEK, RL.MTAKE: permits now, or a verdict.
#include <string>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/commands/command_lists.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/policy/request_hints.h"
#include "server/limiter/policy/trace_words.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/take.h"
#include "server/limiter/take/take_many.h"

namespace weir::server {
namespace {

constexpr uint32_t kTakeOptions = kCostOption | kUptoOption | kShadowOption | kForceOption |
                                  kIdOption | kHoldOption | kFullOption | kAllHeaders |
                                  kOnChangeOption | kTraceOption;
constexpr uint32_t kLooks =
    kCostOption | kFullOption | kAllHeaders | kOnChangeOption | kTraceOption | kLimitsMayLack;
constexpr uint32_t kTakesMany = kTakeOptions | kKeyCostsOption | kLimitsOfEach;

void rl_take(Call& call) {
  const auto request = call.limiters.requests.parse(untraced_words(call, 2), kTakeOptions);
  if (!request) return call.reply.error(request.error());
  if ((*request)->force) [[unlikely]]
    call.host.audit().note();
  take(call, call.args[1], **request);
}

void rl_peek(Call& call) {
  const auto request = call.limiters.requests.parse(untraced_words(call, 2), kLooks);
  if (!request) return call.reply.error(request.error());
  peek_at(call, call.args[1], **request);
}

// Answers the keys of RL.MTAKE numkeys key [key ...] limits ...
Result<Args, std::string> keys_to_take(const Call& call) {
  const auto numkeys = resp::parse_int64(call.args[1]);
  const auto most = static_cast<int64_t>(algorithms::kLimitsMax);
  if (!numkeys || *numkeys < 1 || *numkeys > most) {
    const std::string error = "ERR numkeys must be between 1 and " + std::to_string(most) +
                              ", got '" + algorithms::shown(call.args[1]) + "'";
    if (numkeys) return error;
    return error + "; the number of keys comes first: RL.MTAKE numkeys key [key ...] limits ...";
  }
  const auto count = static_cast<size_t>(*numkeys);
  if (call.args.size() < 2 + count) {
    return "ERR numkeys is " + std::to_string(count) + ", but only " +
           std::to_string(call.args.size() - 2) + " arguments follow";
  }
  const Args keys = call.args.subspan(2, count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (keys[i] != keys[j]) continue;
      return "ERR key " + std::to_string(j) + " and key " + std::to_string(i) +
             " are the same: each key stands once";
    }
  }
  return keys;
}

void rl_mtake(Call& call) {
  const auto keys = keys_to_take(call);
  if (!keys) return call.reply.error(keys.error());
  const auto request =
      call.limiters.requests.parse(untraced_words(call, 2 + keys->size()), kTakesMany);
  if (!request) return call.reply.error(request.error() + hint_about_keys(*keys));
  if ((*request)->force) call.host.audit().note();
  take_many(call, *keys, **request);
}

void use_of_take(Args args, LimitUse* use) { add_limit_use(args, 2, kTakeOptions, use); }
void use_of_peek(Args args, LimitUse* use) { add_limit_use(args, 2, kLooks, use); }

// Who has a policy's limits spread over several keys chooses which of them counts for which key, as
// if the limits were written.
void use_of_mtake(Args args, LimitUse* use) {
  const auto numkeys = resp::parse_int64(args[1]);
  const bool fits = numkeys && *numkeys >= 0 && *numkeys <= static_cast<int64_t>(args.size());
  const size_t first = fits ? 2 + static_cast<size_t>(*numkeys) : 2;
  add_limit_use(args, first, kTakesMany, use);
  const bool names_each = first < args.size() && equals_ignoring_case(args[first], "EACH");
  if (fits && *numkeys > 1 && !names_each) use->is_inline = true;
}

constexpr Command kRlTakeCommands[] = {
    {.name = "rl.take",
     .arity = -3,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .usage = "key limits [COST n] [UPTO] [SHADOW] [FORCE] [ID token] [HOLD duration] [FULL] "
              "[HEADERS] [LEGACY] [PROBLEM] [PARTITION] [ONCHANGE mode] [TRACEPARENT traceparent]",
     .summary = "Takes permits from all limits of a key, or from none.",
     .since = "weir 0.1",
     .run = rl_take,
     .limit_use = use_of_take},
    {.name = "rl.peek",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .audit = Audit::kNo,
     .group = "ratelimit",
     .usage = "key [limits] [COST n] [FULL] [HEADERS] [LEGACY] [PROBLEM] [PARTITION] "
              "[ONCHANGE mode] [TRACEPARENT traceparent]",
     .summary = "Answers the verdict that RL.TAKE would give, and changes nothing.",
     .since = "weir 0.1",
     .run = rl_peek,
     .limit_use = use_of_peek},
    {.name = "rl.mtake",
     .arity = -4,
     .flags = kWrites | kDenyOom | kMovableKeys | kWakesNobody | kTakes,
     .keys = {.numkeys = 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .usage = "numkeys key [key ...] <limits | EACH limits [EACH limits ...]> "
              "[COST n | KEYCOSTS n] [UPTO] [SHADOW] [FORCE] [ID token] [HOLD duration] [FULL] "
              "[HEADERS] [LEGACY] [PROBLEM] [PARTITION] [ONCHANGE mode] [TRACEPARENT traceparent]",
     .summary = "Takes from limits of several keys: from all keys, or from none.",
     .since = "weir 0.1",
     .run = rl_mtake,
     .limit_use = use_of_mtake},
};

}  // namespace

Commands rl_take_commands() { return kRlTakeCommands; }

}  // namespace weir::server
