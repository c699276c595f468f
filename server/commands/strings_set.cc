// Strings, put: SET, SETNX, SETEX, PSETEX, MSET, MSETNX. Whatever a key held is replaced.
#include <algorithm>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/commands/string_options.h"
#include "server/core/run/executor.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

// Answers the expiry, 0 if there is none.
Result<int64_t, ErrorReplied> checked_expiry(Call& call, const StringOptions& options) {
  if (!options.expire) return 0;
  return expire_at_argument(call, *options.expire);
}

void set(Call& call) {
  const auto read = set_options(call, 3);
  if (!read) return;
  const StringOptions& options = *read;
  const auto expire_at_ms = checked_expiry(call, options);
  if (!expire_at_ms) return;
  storage::Ref ref = options.answer_old ? read_key(call, call.args[1]) : call.look_up(call.args[1]);
  if (options.answer_old) {
    if (!check_string_or_absent(call, ref)) return;
    ref.exists() ? call.reply.bulk(ref.value()) : call.reply.null();
  }
  if (ref.exists() ? options.only_if_absent : options.only_if_present) {
    if (!options.answer_old) call.reply.null();
    return;
  }
  call.keys.put(&ref, storage::Type::kString, call.args[2],
                options.keep_expiry ? ref.expire_at_ms() : *expire_at_ms);
  call.notify(EventClass::kString, "set", call.args[1]);
  if (options.expire) call.notify(EventClass::kGeneric, "expire", call.args[1]);
  if (!options.answer_old) call.reply.status("OK");
}

void setnx(Call& call) {
  storage::Ref ref = call.look_up(call.args[1]);
  if (ref.exists()) return call.reply.integer(0);
  call.keys.put(&ref, storage::Type::kString, call.args[2], 0);
  call.notify(EventClass::kString, "set", call.args[1]);
  call.reply.integer(1);
}

void set_with_expiry(Call& call, const ExpireArgument& expire) {
  const auto expire_at_ms = expire_at_argument(call, expire);
  if (!expire_at_ms) return;
  storage::Ref ref = call.look_up(call.args[1]);
  call.keys.put(&ref, storage::Type::kString, call.args[3], *expire_at_ms);
  call.notify(EventClass::kString, "set", call.args[1]);
  call.notify(EventClass::kGeneric, "expire", call.args[1]);
  call.reply.status("OK");
}

void setex(Call& call) { set_with_expiry(call, {.text = call.args[2], .in_seconds = true}); }

void psetex(Call& call) { set_with_expiry(call, {.text = call.args[2]}); }

Result<void, ErrorReplied> check_pairs(Call& call) {
  if (call.args.size() % 2 == 1) return {};
  return reply_error(call, arity_error(call.command));
}

void put_pairs(Call& call) {
  for (size_t i = 1; i < call.args.size(); i += 2) {
    storage::Ref ref = call.look_up(call.args[i]);
    call.keys.put(&ref, storage::Type::kString, call.args[i + 1], 0);
    call.notify(EventClass::kString, "set", call.args[i]);
  }
}

void mset(Call& call) {
  if (!check_pairs(call)) return;
  put_pairs(call);
  call.reply.status("OK");
}

void msetnx(Call& call) {
  if (!check_pairs(call)) return;
  for (size_t i = 1; i < call.args.size(); i += 2) {
    if (call.look_up(call.args[i]).exists()) return call.reply.integer(0);
  }
  put_pairs(call);
  call.reply.integer(1);
}

// With GET the command reads what it overwrites.
void set_key_use(Args args, std::vector<KeyReference>* keys) {
  if (args.size() < 3) return;
  const bool gets = std::any_of(args.begin() + 3, args.end(), [](std::string_view word) {
    return equals_ignoring_case(word, "GET");
  });
  keys->front().use = gets ? KeyUse::kEdits : KeyUse::kOverwrites;
}

constexpr Command kStringsSetCommands[] = {
    {.name = "set",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, 1, 1, 0, KeyUse::kByOptions},
     .more_keys = set_key_use,
     .group = "string",
     .usage =
         "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT "
         "unix-time-milliseconds | KEEPTTL]",
     .summary = "Puts a string at a key, on a condition and with an expiry if asked.",
     .since = "1.0.0",
     .run = set},
    {.name = "setnx",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kCreates},
     .group = "string",
     .usage = "key value",
     .summary = "Puts a string at a key that does not exist.",
     .since = "1.0.0",
     .run = setnx},
    {.name = "setex",
     .arity = 4,
     .flags = kWrites | kDenyOom,
     .keys = {1, 1, 1, 0, KeyUse::kOverwrites},
     .group = "string",
     .usage = "key seconds value",
     .summary = "Puts a string at a key for so many seconds.",
     .since = "2.0.0",
     .run = setex},
    {.name = "psetex",
     .arity = 4,
     .flags = kWrites | kDenyOom,
     .keys = {1, 1, 1, 0, KeyUse::kOverwrites},
     .group = "string",
     .usage = "key milliseconds value",
     .summary = "Puts a string at a key for so many milliseconds.",
     .since = "2.6.0",
     .run = psetex},
    {.name = "mset",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, -1, 2, 0, KeyUse::kOverwrites},
     .group = "string",
     .usage = "key value [key value ...]",
     .summary = "Puts strings at several keys at once.",
     .since = "1.0.1",
     .tips = "request_policy:multi_shard response_policy:all_succeeded",
     .run = mset},
    {.name = "msetnx",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, -1, 2, 0, KeyUse::kCreates},
     .group = "string",
     .usage = "key value [key value ...]",
     .summary = "Puts strings at several keys if none of them exists.",
     .since = "1.0.1",
     .tips = "request_policy:multi_shard response_policy:agg_min",
     .run = msetnx},
};

}  // namespace

Commands strings_set_commands() { return kStringsSetCommands; }

}  // namespace weir::server
