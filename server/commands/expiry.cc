// When keys end: EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT, TTL, PTTL, EXPIRETIME, PEXPIRETIME, PERSIST.
#include <algorithm>
#include <limits>
#include <string>

#include "base/result.h"
#include "base/time_units.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

constexpr int64_t kNoSuchKey = -2;
constexpr int64_t kNoExpiry = -1;

struct Condition {
  bool if_none = false;     // NX
  bool if_some = false;     // XX
  bool if_later = false;    // GT
  bool if_earlier = false;  // LT
};

constexpr OptionRow<Condition> kConditions[] = {{.word = "NX", .flag = &Condition::if_none},
                                                {.word = "XX", .flag = &Condition::if_some},
                                                {.word = "GT", .flag = &Condition::if_later},
                                                {.word = "LT", .flag = &Condition::if_earlier}};

Result<Condition, ErrorReplied> condition_options(Call& call) {
  Condition condition;
  const auto rest = read_leading_options(call, call.args.subspan(3), kConditions, &condition);
  if (!rest) return rest.error();
  if (!rest->empty())
    return reply_error(call, "ERR Unsupported option " + std::string(shown_part(rest->front())));
  if (condition.if_none && (condition.if_some || condition.if_later || condition.if_earlier))
    return reply_error(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
  if (condition.if_later && condition.if_earlier)
    return reply_error(call, "ERR GT and LT options at the same time are not compatible");
  return condition;
}

// Tells whether the condition holds. A key without an expiry ends later than any other.
bool holds(const Condition& condition, int64_t current_ms, int64_t wanted_ms) {
  const bool some = current_ms != 0;
  if (condition.if_none && some) return false;
  if (condition.if_some && !some) return false;
  if (condition.if_later && (!some || wanted_ms <= current_ms)) return false;
  return !(condition.if_earlier && some && wanted_ms >= current_ms);
}

void set_end(Call& call, bool in_seconds, bool absolute) {
  const auto condition = condition_options(call);
  if (!condition) return;
  const auto expire_at_ms = any_expire_at_argument(
      call, {.text = call.args[2], .in_seconds = in_seconds, .absolute = absolute});
  if (!expire_at_ms) return;
  storage::Ref ref = call.look_up(call.args[1]);
  if (!ref.exists() || !holds(*condition, ref.expire_at_ms(), *expire_at_ms))
    return call.reply.integer(0);
  const bool ends_now = *expire_at_ms <= call.now_ms();
  ends_now ? call.keys.erase(&ref) : call.keys.set_expiry(&ref, *expire_at_ms);
  call.notify(EventClass::kGeneric, ends_now ? "del" : "expire", call.args[1]);
  call.reply.integer(1);
}

void expire(Call& call) { set_end(call, true, false); }
void pexpire(Call& call) { set_end(call, false, false); }
void expireat(Call& call) { set_end(call, true, true); }
void pexpireat(Call& call) { set_end(call, false, true); }

int64_t rounded_seconds(int64_t ms) { return ms / kMsPerS + (ms % kMsPerS >= kMsPerS / 2 ? 1 : 0); }

// Replies the instant at which a key ends, less `base_ms`; or kNoSuchKey, kNoExpiry. An instant
// less the lead is the wall clock's time.
void reply_end(Call& call, int64_t base_ms, bool in_seconds) {
  const storage::Ref ref = read_key(call, call.args[1]);
  if (!ref.exists()) return call.reply.integer(kNoSuchKey);
  if (ref.expire_at_ms() == 0) return call.reply.integer(kNoExpiry);
  int64_t ms = 0;
  if (__builtin_sub_overflow(ref.expire_at_ms(), base_ms, &ms))  // the lead may be negative
    ms = std::numeric_limits<int64_t>::max();
  ms = std::max<int64_t>(ms, 0);
  call.reply.integer(in_seconds ? rounded_seconds(ms) : ms);
}

void ttl(Call& call) { reply_end(call, call.now_ms(), true); }
void pttl(Call& call) { reply_end(call, call.now_ms(), false); }
void expiretime(Call& call) { reply_end(call, call.lead_ms(), true); }
void pexpiretime(Call& call) { reply_end(call, call.lead_ms(), false); }

void persist(Call& call) {
  storage::Ref ref = call.look_up(call.args[1]);
  if (ref.expire_at_ms() == 0) return call.reply.integer(0);
  call.keys.set_expiry(&ref, 0);
  call.notify(EventClass::kGeneric, "persist", call.args[1]);
  call.reply.integer(1);
}

constexpr Command kExpiryCommands[] = {
    {.name = "expire",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "generic",
     .usage = "key seconds [NX | XX | GT | LT]",
     .summary = "Lets a key end after so many seconds.",
     .since = "1.0.0",
     .run = expire},
    {.name = "pexpire",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "generic",
     .usage = "key milliseconds [NX | XX | GT | LT]",
     .summary = "Lets a key end after so many milliseconds.",
     .since = "2.6.0",
     .run = pexpire},
    {.name = "expireat",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "generic",
     .usage = "key unix-time-seconds [NX | XX | GT | LT]",
     .summary = "Lets a key end at an instant, in seconds of Unix time.",
     .since = "1.2.0",
     .run = expireat},
    {.name = "pexpireat",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "generic",
     .usage = "key unix-time-milliseconds [NX | XX | GT | LT]",
     .summary = "Lets a key end at an instant, in milliseconds of Unix time.",
     .since = "2.6.0",
     .run = pexpireat},
    {.name = "ttl",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers the seconds a key has left, -1 without an expiry, -2 without the key.",
     .since = "1.0.0",
     .tips = "nondeterministic_output",
     .run = ttl},
    {.name = "pttl",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary =
         "Answers the milliseconds a key has left, -1 without an expiry, -2 without the key.",
     .since = "2.6.0",
     .tips = "nondeterministic_output",
     .run = pttl},
    {.name = "expiretime",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers when a key ends, in seconds of Unix time.",
     .since = "7.0.0",
     .run = expiretime},
    {.name = "pexpiretime",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers when a key ends, in milliseconds of Unix time.",
     .since = "7.0.0",
     .run = pexpiretime},
    {.name = "persist",
     .arity = 2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "generic",
     .usage = "key",
     .summary = "Takes a key's expiry away.",
     .since = "2.2.0",
     .run = persist},
};

}  // namespace

Commands expiry_commands() { return kExpiryCommands; }

}  // namespace weir::server
