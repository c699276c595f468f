// Keys of any type: DEL, UNLINK, EXISTS, TOUCH, TYPE, RENAME, RENAMENX, COPY, MOVE, OBJECT.
#include <string>

#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/lookups.h"

namespace weir::server {
namespace {

// A record on its way from one key to another, out of reach of changes to the keyspace.
struct Record {
  explicit Record(const storage::Ref& ref)
      : type(ref.type()), expire_at_ms(ref.expire_at_ms()), value(ref.value()) {}

  storage::Type type;
  int64_t expire_at_ms;
  std::string value;
};

void put(Call& call, storage::Ref* ref, const Record& record) {
  call.keys.put(ref, record.type, record.value, record.expire_at_ms);
}

void del(Call& call) {
  int64_t deleted = 0;
  for (const std::string_view key : call.args.subspan(1)) {
    storage::Ref ref = call.look_up(key);
    if (!ref.exists()) continue;
    call.keys.erase(&ref);
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
  const storage::Ref source = call.look_up(call.args[1]);
  if (!source.exists()) return Renamed::kNoSource;
  if (call.args[1] == call.args[2]) return only_if_absent ? Renamed::kTargetExists : Renamed::kDone;
  const Record record(source);
  storage::Ref target = call.look_up(call.args[2]);
  if (only_if_absent && target.exists()) return Renamed::kTargetExists;
  put(call, &target, record);
  storage::Ref left = call.look_up(call.args[1]);
  call.keys.erase(&left);
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

std::optional<CopyOptions> copy_options(Call& call) {
  CopyOptions options{.database = call.database()};
  for (size_t at = 3; at < call.args.size(); ++at) {
    if (resp::equals_ignoring_case(call.args[at], "REPLACE")) {
      options.replace = true;
    } else if (resp::equals_ignoring_case(call.args[at], "DB") && at + 1 < call.args.size()) {
      const auto database = database_argument(call, call.args[++at]);
      if (!database) return std::nullopt;
      options.database = *database;
    } else {
      call.reply.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

void copy(Call& call) {
  const auto options = copy_options(call);
  if (!options) return;
  if (options->database == call.database() && call.args[1] == call.args[2])
    return call.reply.error(kSameObject);
  const storage::Ref source = read_key(call, call.args[1]);
  if (!source.exists()) return call.reply.integer(0);
  const Record record(source);
  storage::Ref target = call.keys.look_up(options->database, call.args[2]);
  if (target.exists() && !options->replace) return call.reply.integer(0);
  put(call, &target, record);
  call.reply.integer(1);
}

void move(Call& call) {
  const auto database = database_argument(call, call.args[2]);
  if (!database) return;
  if (*database == call.database()) return call.reply.error(kSameObject);
  const storage::Ref source = call.look_up(call.args[1]);
  if (!source.exists()) return call.reply.integer(0);
  const Record record(source);
  storage::Ref target = call.keys.look_up(*database, call.args[1]);
  if (target.exists()) return call.reply.integer(0);
  put(call, &target, record);
  storage::Ref left = call.look_up(call.args[1]);
  call.keys.erase(&left);
  call.reply.integer(1);
}

// What Redis would hold a value of these bytes in; here there is but one form.
std::string_view encoding_of(const storage::Ref& ref) {
  constexpr size_t kEmbeddedBytesMax = 44;
  if (ref.type() != storage::Type::kString) return "raw";
  if (resp::parse_int64(ref.value())) return "int";
  return ref.value().size() <= kEmbeddedBytesMax ? "embstr" : "raw";
}

void object_encoding(Call& call) {
  const storage::Ref ref = read_key(call, call.args[2]);
  ref.exists() ? call.reply.bulk(encoding_of(ref)) : call.reply.null();
}

void object_refcount(Call& call) {
  const storage::Ref ref = read_key(call, call.args[2]);
  ref.exists() ? call.reply.integer(1) : call.reply.null();
}

constexpr Command kCommands[] = {
    {.name = "del",
     .arity = -2,
     .flags = kWrites,
     .keys = {1, -1, 1},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Deletes keys; answers how many there were.",
     .since = "1.0.0",
     .run = del},
    {.name = "unlink",
     .arity = -2,
     .flags = kWrites | kFast,
     .keys = {1, -1, 1},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "DEL by another name.",
     .since = "4.0.0",
     .run = del},
    {.name = "exists",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, -1, 1},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Answers how many of the keys exist.",
     .since = "1.0.0",
     .run = count_existing},
    {.name = "touch",
     .arity = -2,
     .flags = kReads | kFast,
     .keys = {1, -1, 1},
     .group = "generic",
     .usage = "key [key ...]",
     .summary = "Keeps keys in memory for longer; answers how many of them exist.",
     .since = "3.2.1",
     .run = count_existing},
    {.name = "type",
     .arity = 2,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers what a key holds: string, limiter, or none.",
     .since = "1.0.0",
     .run = type},
    {.name = "rename",
     .arity = 3,
     .flags = kWrites,
     .keys = {1, 2, 1},
     .group = "generic",
     .usage = "key newkey",
     .summary = "Gives a key another name, with its expiry; a key of that name is replaced.",
     .since = "1.0.0",
     .run = rename},
    {.name = "renamenx",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 2, 1},
     .group = "generic",
     .usage = "key newkey",
     .summary = "Gives a key another name if no key has it.",
     .since = "1.0.0",
     .run = renamenx},
    {.name = "copy",
     .arity = -3,
     .flags = kWrites | kDenyOom,
     .keys = {1, 2, 1},
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
    {.name = "object",
     .arity = -2,
     .flags = kContainer,
     .group = "generic",
     .usage = "subcommand [argument ...]",
     .summary = "Tells about the value at a key.",
     .since = "2.2.3"},
    {.name = "object|encoding",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers the form in which Redis would keep the value.",
     .since = "2.2.3",
     .run = object_encoding},
    {.name = "object|refcount",
     .arity = 3,
     .flags = kReads,
     .keys = {2, 2, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers 1 for every key: values are not shared.",
     .since = "2.2.3",
     .run = object_refcount},
    {.name = "object|help",
     .arity = 2,
     .flags = kLoading,
     .group = "generic",
     .summary = "Answers what the subcommands do.",
     .since = "6.2.0",
     .run = container_help},
};

}  // namespace

Commands keys_commands() { return kCommands; }

}  // namespace weir::server
