// Strings, read: GET, GETEX, GETDEL, GETSET, MGET, STRLEN, GETRANGE, SUBSTR.
#include <algorithm>

#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/commands/string_options.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

void reply_value(Call& call, const storage::Ref& ref) {
  ref.exists() ? call.reply.bulk(ref.value()) : call.reply.null();
}

void get(Call& call) {
  const storage::Ref ref = read_key(call, call.args[1]);
  if (check_string_or_absent(call, ref)) reply_value(call, ref);
}

void getdel(Call& call) {
  storage::Ref ref = read_key(call, call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  reply_value(call, ref);
  if (!ref.exists()) return;
  call.keys.erase(&ref);
  call.notify(EventClass::kGeneric, "del", call.args[1]);
}

void getset(Call& call) {
  storage::Ref ref = read_key(call, call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  reply_value(call, ref);
  call.keys.put(&ref, storage::Type::kString, call.args[2], 0);
  call.notify(EventClass::kString, "set", call.args[1]);
}

// The time is read only if there is a string to give it to.
void getex(Call& call) {
  const auto options = getex_options(call, 2);
  if (!options) return;
  storage::Ref ref = read_key(call, call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  if (!ref.exists()) return call.reply.null();
  int64_t expire_at_ms = 0;
  if (options->expire) {
    const auto instant_ms = expire_at_argument(call, *options->expire);
    if (!instant_ms) return;
    expire_at_ms = *instant_ms;
  }
  reply_value(call, ref);
  if (options->expire && expire_at_ms <= call.now_ms()) {
    call.keys.erase(&ref);
    call.notify(EventClass::kGeneric, "del", call.args[1]);
  } else if (options->expire || (options->persist && ref.expire_at_ms() != 0)) {
    call.keys.set_expiry(&ref, expire_at_ms);
    call.notify(EventClass::kGeneric, options->expire ? "expire" : "persist", call.args[1]);
  }
}

void mget(Call& call) {
  call.reply.array(static_cast<int64_t>(call.args.size()) - 1);
  for (const std::string_view key : call.args.subspan(1)) {
    const storage::Ref ref = read_key(call, key);
    ref.type() == storage::Type::kString ? call.reply.bulk(ref.value()) : call.reply.null();
  }
}

void strlen(Call& call) {
  const storage::Ref ref = read_key(call, call.args[1]);
  if (check_string_or_absent(call, ref))
    call.reply.integer(static_cast<int64_t>(ref.value().size()));
}

struct ByteRange {
  int64_t first;
  int64_t last;  // included
};

// Negative places count from the end.
std::string_view cut(std::string_view value, ByteRange range) {
  const auto size = static_cast<int64_t>(value.size());
  if (range.first < 0 && range.last < 0 && range.first > range.last) return {};
  const auto place = [size](int64_t at) { return at < 0 ? std::max<int64_t>(at + size, 0) : at; };
  const int64_t first = place(range.first);
  const int64_t last = std::min(place(range.last), size - 1);
  if (first > last) return {};
  return value.substr(static_cast<size_t>(first), static_cast<size_t>(last - first + 1));
}

void getrange(Call& call) {
  const auto first = integer_argument(call, call.args[2]);
  if (!first) return;
  const auto last = integer_argument(call, call.args[3]);
  if (!last) return;
  const storage::Ref ref = read_key(call, call.args[1]);
  if (check_string_or_absent(call, ref))
    call.reply.bulk(cut(ref.value(), {.first = *first, .last = *last}));
}

constexpr Command kStringsCommands[] = {
    {.name = "get",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key",
     .summary = "Answers the string at a key.",
     .since = "1.0.0",
     .run = get},
    {.name = "getdel",
     .arity = 2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kTakes},
     .group = "string",
     .usage = "key",
     .summary = "Answers the string at a key and deletes the key.",
     .since = "6.2.0",
     .run = getdel},
    {.name = "getset",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key value",
     .summary = "Puts a string at a key and answers the one it replaced.",
     .since = "1.0.0",
     .run = getset},
    {.name = "getex",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT "
              "unix-time-milliseconds | PERSIST]",
     .summary = "Answers the string at a key and sets or removes the key's expiry.",
     .since = "6.2.0",
     .run = getex},
    {.name = "mget",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, -1, 1},
     .group = "string",
     .usage = "key [key ...]",
     .summary = "Answers the strings at several keys, null where there is none.",
     .since = "1.0.0",
     .tips = "request_policy:multi_shard",
     .run = mget},
    {.name = "strlen",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "string",
     .usage = "key",
     .summary = "Answers how many bytes the string at a key has.",
     .since = "2.2.0",
     .run = strlen},
    {.name = "getrange",
     .arity = 4,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key start end",
     .summary = "Answers a part of the string at a key; negative places count from its end.",
     .since = "2.4.0",
     .run = getrange},
    {.name = "substr",
     .arity = 4,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key start end",
     .summary = "GETRANGE by its old name.",
     .since = "1.0.0",
     .run = getrange},
};

}  // namespace

Commands strings_commands() { return kStringsCommands; }

}  // namespace weir::server
