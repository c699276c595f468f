// Strings, changed in place: INCR and its like, APPEND, SETRANGE. The expiry stays as it was.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/take/limiters.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

// The key's expiry is read before put() sets it again.
void put_keeping_expiry(Call& call, storage::Ref* ref, std::string_view value,
                        std::string_view event) {
  call.keys.put(ref, storage::Type::kString, value, ref->expire_at_ms());
  call.notify(EventClass::kString, event, call.args[1]);
}

void add(Call& call, int64_t increment) {
  storage::Ref ref = call.look_up(call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  int64_t number = 0;
  if (ref.exists()) {
    const auto stored = integer_argument(call, ref.value());
    if (!stored) return;
    number = *stored;
  }
  if (__builtin_add_overflow(number, increment, &number))
    return call.reply.error("ERR increment or decrement would overflow");
  call.limiters.takings.count(std::abs(std::max(increment, -INT64_MAX)));
  char digits[20];
  put_keeping_expiry(call, &ref, {digits, resp::format_int64(number, digits)}, "incrby");
  call.reply.integer(number);
}

void incr(Call& call) { add(call, 1); }

void decr(Call& call) { add(call, -1); }

void incrby(Call& call) {
  if (const auto increment = integer_argument(call, call.args[2])) add(call, *increment);
}

void decrby(Call& call) {
  const auto decrement = integer_argument(call, call.args[2]);
  if (!decrement) return;
  if (*decrement == INT64_MIN) return call.reply.error("ERR decrement would overflow");
  add(call, -*decrement);
}

void incrbyfloat(Call& call) {
  storage::Ref ref = call.look_up(call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  const auto number = ref.exists() ? resp::parse_long_double(ref.value()) : 0.0L;
  const auto increment = resp::parse_long_double(call.args[2]);
  if (!number || !increment) return call.reply.error(kNotAFloat);
  const long double sum = *number + *increment;
  if (!std::isfinite(sum)) return call.reply.error("ERR increment would produce NaN or Infinity");
  const std::string text = resp::format_long_double_human(sum);
  put_keeping_expiry(call, &ref, text, "incrbyfloat");
  call.reply.bulk(text);
}

Result<void, ErrorReplied> check_size(Call& call, uint64_t bytes) {
  if (bytes <= static_cast<uint64_t>(server_of(call).config().proto_max_bulk_len)) return {};
  return reply_error(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

void append(Call& call) {
  storage::Ref ref = call.look_up(call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  std::string value;
  if (!check_size(call, ref.value().size() + call.args[2].size())) return;
  call.work().charge_bytes(2 * ref.value().size());  // once more into the keyspace
  value.reserve(ref.value().size() + call.args[2].size());
  value.append(ref.value()).append(call.args[2]);
  put_keeping_expiry(call, &ref, value, "append");
  call.reply.integer(static_cast<int64_t>(value.size()));
}

void setrange(Call& call) {
  const auto offset = integer_argument(call, call.args[2]);
  if (!offset) return;
  if (*offset < 0) return call.reply.error("ERR offset is out of range");
  storage::Ref ref = call.look_up(call.args[1]);
  if (!check_string_or_absent(call, ref)) return;
  const std::string_view patch = call.args[3];
  if (patch.empty()) return call.reply.integer(static_cast<int64_t>(ref.value().size()));
  const uint64_t end = static_cast<uint64_t>(*offset) + patch.size();
  if (!check_size(call, end)) return;
  std::string value(ref.value());
  call.work().charge_bytes(2 * std::max<size_t>(value.size(), end));
  if (value.size() < end) value.resize(end);  // the bytes in between are zeros
  value.replace(static_cast<size_t>(*offset), patch.size(), patch);
  put_keeping_expiry(call, &ref, value, "setrange");
  call.reply.integer(static_cast<int64_t>(value.size()));
}

constexpr Command kStringsEditCommands[] = {
    {.name = "incr",
     .arity = 2,
     .flags = kWrites | kDenyOom | kFast | kCounts,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key",
     .summary = "Adds one to the integer at a key; a missing key counts as 0.",
     .since = "1.0.0",
     .run = incr},
    {.name = "decr",
     .arity = 2,
     .flags = kWrites | kDenyOom | kFast | kCounts,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key",
     .summary = "Takes one from the integer at a key; a missing key counts as 0.",
     .since = "1.0.0",
     .run = decr},
    {.name = "incrby",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast | kCounts,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key increment",
     .summary = "Adds to the integer at a key.",
     .since = "1.0.0",
     .run = incrby},
    {.name = "decrby",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast | kCounts,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key decrement",
     .summary = "Takes from the integer at a key.",
     .since = "1.0.0",
     .run = decrby},
    {.name = "incrbyfloat",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "string",
     .usage = "key increment:double",
     .summary = "Adds to the floating-point number at a key.",
     .since = "2.6.0",
     .run = incrbyfloat},
    {.name = "append",
     .arity = 3,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kInserts},
     .group = "string",
     .usage = "key value",
     .summary = "Adds bytes to the end of the string at a key.",
     .since = "2.0.0",
     .run = append},
    {.name = "setrange",
     .arity = 4,
     .flags = kWrites | kDenyOom,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "string",
     .usage = "key offset value",
     .summary = "Writes over a part of the string at a key, filling a gap with zero bytes.",
     .since = "2.2.0",
     .run = setrange},
};

}  // namespace

Commands strings_edit_commands() { return kStringsEditCommands; }

}  // namespace weir::server
