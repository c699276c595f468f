// Keys of any type: DEL, UNLINK, EXISTS, TOUCH, TYPE, RENAME, RENAMENX, COPY, MOVE.
#include <string>

#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/types/collection.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

// Puts a copy of what a key holds, its expiry included, at another key.
Result<void, ErrorReplied> put_copy(Call& call, const storage::Ref& from, storage::Ref* to) {
  if (storage::owns_elements(from.type()))
    return copy_collection(call, from, to, from.expire_at_ms());
  const std::string value(from.value());  // a copy, which changes to the keyspace cannot touch
  call.keys.put(to, from.type(), value, from.expire_at_ms());
  return {};
}

void del(Call& call) {
  int64_t deleted = 0;
  for (const std::string_view key : call.args.subspan(1)) {
    storage::Ref ref = call.look_up(key);
    if (!ref.exists()) continue;
    call.keys.erase(&ref);
    call.notify(EventClass::kGeneric, "del", key);
    ++deleted;
  }
  call.reply.integer(deleted);
}

// A key named twice counts twice.
void count_existing(Call& call) {
  int64_t existing = 0;
  for (const std::string_view key : call.args.subspan(1)) existing += read_key(call, key).exists();
  call.reply.integer(existing);
}

void type(Call& call) { call.reply.status(type_name(read_key(call, call.args[1]).type())); }

enum class Renamed { kDone, kNoSource, kTargetExists };

Renamed move_record(Call& call, bool only_if_absent) {
  storage::Ref source = call.look_up(call.args[1]);
  if (!source.exists()) return Renamed::kNoSource;
  if (call.args[1] == call.args[2]) return only_if_absent ? Renamed::kTargetExists : Renamed::kDone;
  storage::Ref target = call.look_up(call.args[2]);
  if (only_if_absent && target.exists()) return Renamed::kTargetExists;
  const bool replaces = target.exists();
  call.keys.rename(&source, &target);
  if (replaces) call.notify(EventClass::kNew, "new", call.args[2]);  // as in Redis
  call.notify(EventClass::kGeneric, "rename_from", call.args[1]);
  call.notify(EventClass::kGeneric, "rename_to", call.args[2]);
  return Renamed::kDone;
}

void rename(Call& call) {
  if (move_record(call, false) == Renamed::kNoSource) return call.reply.error(kNoSuchKeyError);
  call.reply.status("OK");
}

void renamenx(Call& call) {
  const Renamed renamed = move_record(call, true);
  if (renamed == Renamed::kNoSource) return call.reply.error(kNoSuchKeyError);
  call.reply.integer(renamed == Renamed::kDone ? 1 : 0);
}

struct CopyOptions {
  int database;
  bool replace = false;
};

Result<void, ErrorReplied> take_database(Call& call, Args values, CopyOptions* options) {
  const auto database = database_argument(call, values[0]);
  if (!database) return database.error();
  options->database = *database;
  return {};
}

constexpr OptionRow<CopyOptions> kCopyOptions[] = {
    {.word = "REPLACE", .flag = &CopyOptions::replace},
    {.word = "DB", .values = 1, .take = take_database}};

void copy(Call& call) {
  CopyOptions options{.database = call.database};
  if (!read_options(call, 3, kCopyOptions, &options)) return;
  if (options.database != 0 && server_of(call).config().cluster_enabled) {
    return call.reply.error("ERR Copying to another database is not allowed in cluster mode");
  }
  if (options.database == call.database && call.args[1] == call.args[2])
    return call.reply.error(kSameObject);
  const storage::Ref source = read_key(call, call.args[1]);
  if (!source.exists()) return call.reply.integer(0);
  storage::Ref target = call.keys.look_up(options.database, call.args[2]);
  const bool replaces = target.exists();
  if (replaces && !options.replace) return call.reply.integer(0);
  if (!put_copy(call, source, &target)) return;
  if (replaces) server_of(call).notify(EventClass::kNew, "new", options.database, call.args[2]);
  server_of(call).notify(EventClass::kGeneric, "copy_to", options.database, call.args[2]);
  server_of(call).waiting().signal(options.database, call.args[2]);
  call.reply.integer(1);
}

void move(Call& call) {
  if (server_of(call).config().cluster_enabled)
    return call.reply.error("ERR MOVE is not allowed in cluster mode");
  const auto database = database_argument(call, call.args[2]);
  if (!database) return;
  if (*database == call.database) return call.reply.error(kSameObject);
  const storage::Ref source = call.look_up(call.args[1]);
  if (!source.exists()) return call.reply.integer(0);
  storage::Ref target = call.keys.look_up(*database, call.args[1]);
  if (target.exists()) return call.reply.integer(0);
  if (!put_copy(call, source, &target)) return;
  storage::Ref left = call.look_up(call.args[1]);
  call.keys.erase(&left);
  call.notify(EventClass::kGeneric, "move_from", call.args[1]);
  server_of(call).notify(EventClass::kGeneric, "move_to", *database, call.args[1]);
  server_of(call).waiting().signal(*database, call.args[1]);
  call.reply.integer(1);
}

constexpr Command kKeysCommands[] = {
    {.name = "del",
     .arity = -2,
     .flags = kWrites,
     .keys = {1, -1, 1, 0, KeyUse::kRemoves},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Deletes keys; answers how many there were.",
     .since = "1.0.0",
     .tips = "request_policy:multi_shard response_policy:agg_sum",
     .run = del},
    {.name = "unlink",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, -1, 1, 0, KeyUse::kRemoves},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "DEL by another name.",
     .since = "4.0.0",
     .tips = "request_policy:multi_shard response_policy:agg_sum",
     .run = del},
    {.name = "exists",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, -1, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Answers how many of the keys exist.",
     .since = "1.0.0",
     .tips = "request_policy:multi_shard response_policy:agg_sum",
     .run = count_existing},
    {.name = "touch",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, -1, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Keeps keys in memory for longer; answers how many of them exist.",
     .since = "3.2.1",
     .tips = "request_policy:multi_shard response_policy:agg_sum",
     .run = count_existing},
    {.name = "type",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1, 0, KeyUse::kLooks},
     .group = "generic",
     .usage = "key",
     .summary = "Answers what a key holds: string, hash, list, set, zset, limiter, or none.",
     .since = "1.0.0",
     .run = type},
    {.name = "rename",
     .arity = 3,
     .flags = kWrites,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kOverwrites},
     .group = "generic",
     .usage = "key newkey",
     .summary = "Gives a key another name, with its expiry; a key of that name is replaced.",
     .since = "1.0.0",
     .run = rename},
    {.name = "renamenx",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 2, 1, 0, KeyUse::kTakes, KeyUse::kCreates},
     .group = "generic",
     .usage = "key newkey",
     .summary = "Gives a key another name if no key has it.",
     .since = "1.0.0",
     .run = renamenx},
    {.name = "copy",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, 2, 1, 0, KeyUse::kReads, KeyUse::kOverwrites},
     .group = "generic",
     .usage = "source destination [DB destination-db] [REPLACE]",
     .summary = "Copies a key with its expiry, into another database if asked.",
     .since = "6.2.0",
     .run = copy},
    {.name = "move",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key db",
     .summary = "Moves a key to another database that does not have it.",
     .since = "1.0.0",
     .run = move},
};

}  // namespace

Commands keys_commands() { return kKeysCommands; }

}  // namespace weir::server
