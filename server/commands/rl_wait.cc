// RL.ACQUIRE and RL.RESERVE: permits later.
#include "server/commands/command_lists.h"
#include "server/limiter/later/acquire.h"
#include "server/limiter/later/reserve.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/policy/trace_words.h"
#include "server/limiter/take/limiters.h"

namespace weir::server {
namespace {

constexpr uint32_t kAcquires = kCostOption | kIdOption | kTimeoutOption | kHoldOption |
                               kFullOption | kAllHeaders | kOnChangeOption | kTraceOption;
constexpr uint32_t kReserves =
    kCostOption | kIdOption | kMaxWaitOption | kOnChangeOption | kTraceOption;

void rl_acquire(Call& call) {
  const auto request = call.limiters.requests.parse(untraced_words(call, 2), kAcquires);
  if (!request) return call.reply.error(request.error());
  acquire(call, call.args[1], **request);
}

void rl_reserve(Call& call) {
  const auto request = call.limiters.requests.parse(untraced_words(call, 2), kReserves);
  if (!request) return call.reply.error(request.error());
  reserve(call, call.args[1], **request);
}

void use_of_acquire(Args args, LimitUse* use) { add_limit_use(args, 2, kAcquires, use); }
void use_of_reserve(Args args, LimitUse* use) { add_limit_use(args, 2, kReserves, use); }

constexpr Command kRlWaitCommands[] = {
    {.name = "rl.acquire",
     .arity = -3,  // so that a missing TIMEOUT is asked for by its name
     .flags = kWrites | kBlocking | kDenyOom | kWakesNobody | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kNo,
     .group = "ratelimit",
     .usage = "key limits [COST n] TIMEOUT time [ID token] [HOLD duration] [FULL] [HEADERS] "
              "[LEGACY] [PROBLEM] [PARTITION] [ONCHANGE mode] [TRACEPARENT traceparent]",
     .summary = "Takes permits as soon as they are there, first come, first served.",
     .since = "weir 0.1",
     .run = rl_acquire,
     .limit_use = use_of_acquire},
    {.name = "rl.reserve",
     .arity = -3,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody | kTakes,
     .keys = {1, 1, 1},
     .audit = Audit::kNo,
     .group = "ratelimit",
     .usage = "key limits [COST n] [MAXWAIT time] [ID token] [ONCHANGE mode] "
              "[TRACEPARENT traceparent]",
     .summary = "Books permits now: granted 0 or 1, the wait in milliseconds, an id.",
     .since = "weir 0.1",
     .run = rl_reserve,
     .limit_use = use_of_reserve},
};

}  // namespace

Commands rl_wait_commands() { return kRlWaitCommands; }

}  // namespace weir::server
