// Hashes, changed: HSET, HMSET, HSETNX, HDEL, HINCRBY, HINCRBYFLOAT. The expiry stays as it was.
#include <cmath>
#include <string>

#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/event_class.h"
#include "server/commands/command_lists.h"
#include "server/core/run/executor.h"
#include "server/types/hash.h"

namespace weir::server {
namespace {

Result<Collection, ErrorReplied> write_hash(Call& call) {
  return write_collection(call, call.args[1], storage::Type::kHash);
}

// Puts the pairs and answers how many fields were new.
Result<int64_t, ErrorReplied> put_fields(Call& call) {
  if (call.args.size() % 2 == 1) return reply_error(call, arity_error(call.command));
  auto hash = write_hash(call);
  if (!hash) return hash.error();
  int64_t created = 0;
  for (size_t at = 2; at < call.args.size(); at += 2)
    created += put_field(&*hash, call.args[at], call.args[at + 1]);
  call.notify(EventClass::kHash, "hset", call.args[1]);
  return created;
}

void hset(Call& call) {
  if (const auto created = put_fields(call)) call.reply.integer(*created);
}

void hmset(Call& call) {
  if (put_fields(call)) call.reply.status("OK");
}

void hsetnx(Call& call) {
  auto hash = write_hash(call);
  if (!hash) return;
  if (hash->find(call.args[2])) return call.reply.integer(0);
  put_field(&*hash, call.args[2], call.args[3]);
  call.notify(EventClass::kHash, "hset", call.args[1]);
  call.reply.integer(1);
}

void hdel(Call& call) {
  auto hash = write_hash(call);
  if (!hash) return;
  if (!hash->exists()) return call.reply.integer(0);
  int64_t deleted = 0;
  for (const std::string_view field : call.args.subspan(2))
    deleted += hash->elements().erase(field);
  if (deleted > 0) note_removal(call, &*hash, {EventClass::kHash, "hdel"});
  call.reply.integer(deleted);
}

void hincrby(Call& call) {
  const auto increment = integer_argument(call, call.args[3]);
  if (!increment) return;
  auto hash = write_hash(call);
  if (!hash) return;
  const auto found = hash->find(call.args[2]);
  const auto number = found ? resp::parse_int64(found->value) : 0;
  if (!number) return call.reply.error("ERR hash value is not an integer");
  int64_t sum = 0;
  if (__builtin_add_overflow(*number, *increment, &sum))
    return call.reply.error("ERR increment or decrement would overflow");
  char digits[20];
  put_field(&*hash, call.args[2], {digits, resp::format_int64(sum, digits)});
  call.notify(EventClass::kHash, "hincrby", call.args[1]);
  call.reply.integer(sum);
}

void hincrbyfloat(Call& call) {
  const auto increment = resp::parse_long_double(call.args[3]);
  if (!increment) return call.reply.error(kNotAFloat);
  if (!std::isfinite(*increment)) return call.reply.error("ERR value is NaN or Infinity");
  auto hash = write_hash(call);
  if (!hash) return;
  const auto found = hash->find(call.args[2]);
  const auto number = found ? resp::parse_long_double(found->value) : 0.0L;
  if (!number) return call.reply.error("ERR hash value is not a float");
  const long double sum = *number + *increment;
  if (!std::isfinite(sum)) return call.reply.error("ERR increment would produce NaN or Infinity");
  const std::string text = resp::format_long_double_human(sum);
  put_field(&*hash, call.args[2], text);
  call.notify(EventClass::kHash, "hincrbyfloat", call.args[1]);
  call.reply.bulk(text);
}

constexpr Command kHashWriteCommands[] = {
    {.name = "hset",
     .arity = -4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "hash",
     .usage = "key field value [field value ...]",
     .summary = "Sets fields; answers how many of them are new.",
     .since = "2.0.0",
     .run = hset},
    {.name = "hmset",
     .arity = -4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kUpdates},
     .group = "hash",
     .usage = "key field value [field value ...]",
     .summary = "Sets fields.",
     .since = "2.0.0",
     .run = hmset},
    {.name = "hsetnx",
     .arity = 4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kInserts},
     .group = "hash",
     .usage = "key field value",
     .summary = "Sets a field that does not exist.",
     .since = "2.0.0",
     .run = hsetnx},
    {.name = "hdel",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kDeletes},
     .group = "hash",
     .usage = "key field [field ...]",
     .summary = "Deletes fields; answers how many there were.",
     .since = "2.0.0",
     .run = hdel},
    {.name = "hincrby",
     .arity = 4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key field increment",
     .summary = "Adds to the integer in a field; a missing field counts as 0.",
     .since = "2.0.0",
     .run = hincrby},
    {.name = "hincrbyfloat",
     .arity = 4,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key field increment:double",
     .summary = "Adds to the floating-point number in a field; a missing field counts as 0.",
     .since = "2.6.0",
     .run = hincrbyfloat},
};

}  // namespace

Commands hash_write_commands() { return kHashWriteCommands; }

}  // namespace weir::server
