// DUMP and RESTORE, in Redis' own form (types/dump.h).
#include "server/types/dump.h"

#include <limits>
#include <string>

#include "server/command/arguments.h"
#include "server/command/event_class.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

void dump_key(Call& call) {
  const storage::Ref ref = read_key(call, call.args[1]);
  if (!ref.exists()) return call.reply.null();
  if (const auto bytes = dump(call, ref)) call.reply.bulk(*bytes);
}

struct RestoreOptions {
  bool replace = false;
  bool absolute = false;
  bool has_idletime = false;
  bool has_freq = false;
};

// IDLETIME and FREQ are checked and have no effect.
Result<void, ErrorReplied> check_number(Call& call, std::string_view text, int64_t most,
                                        std::string_view error) {
  const auto number = integer_argument(call, text);
  if (!number) return number.error();
  if (*number < 0 || *number > most) return reply_error(call, error);
  return {};
}

constexpr OptionRow<RestoreOptions> kRestoreOptions[] = {
    {.word = "REPLACE", .flag = &RestoreOptions::replace},
    {.word = "ABSTTL", .flag = &RestoreOptions::absolute},
    {.word = "IDLETIME",
     .values = 1,
     .flag = &RestoreOptions::has_idletime,
     .take =
         [](Call& call, Args values, RestoreOptions*) {
           return check_number(call, values[0], std::numeric_limits<int64_t>::max(),
                               "ERR Invalid IDLETIME value, must be >= 0");
         },
     .fits = without<&RestoreOptions::has_freq>},
    {.word = "FREQ",
     .values = 1,
     .flag = &RestoreOptions::has_freq,
     .take =
         [](Call& call, Args values, RestoreOptions*) {
           return check_number(call, values[0], 255,
                               "ERR Invalid FREQ value, must be >= 0 and <= 255");
         },
     .fits = without<&RestoreOptions::has_idletime>}};

// Answers the expiry, 0 if there is none.
Result<int64_t, ErrorReplied> restore_expiry(Call& call, bool absolute) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto ttl_ms = integer_argument(call, call.args[2]);
  if (!ttl_ms) return ttl_ms;
  if (*ttl_ms < 0) return reply_error(call, "ERR Invalid TTL value, must be >= 0");
  if (*ttl_ms == 0) return *ttl_ms;
  const int64_t base_ms = absolute ? call.lead_ms() : call.now_ms();
  int64_t instant_ms = 0;
  return __builtin_add_overflow(*ttl_ms, base_ms, &instant_ms) ? kMax : instant_ms;
}

void restore_key(Call& call) {
  RestoreOptions options;
  if (!read_options(call, 4, kRestoreOptions, &options)) return;
  storage::Ref ref = call.look_up(call.args[1]);
  const bool replaces = ref.exists();
  if (replaces && !options.replace)
    return call.reply.error("BUSYKEY Target key name already exists.");
  const auto expire_at_ms = restore_expiry(call, options.absolute);
  if (!expire_at_ms) return;
  const auto restored = restore(call, call.args[3], call.args[1], *expire_at_ms);
  if (!restored) return call.reply.error(restored.error());
  if (replaces) call.notify(EventClass::kNew, "new", call.args[1]);
  const bool ends_now = *expire_at_ms != 0 && *expire_at_ms <= call.now_ms();
  if (ends_now) {
    storage::Ref ended = call.look_up(call.args[1]);
    call.keys.erase(&ended);
  }
  call.notify(EventClass::kGeneric, ends_now ? "del" : "restore", call.args[1]);
  call.reply.status("OK");
}

constexpr Command kDumpCommands[] = {
    {.name = "dump",
     .arity = 2,
     .flags = kReads,
     .keys = {1, 1, 1},
     .group = "generic",
     .usage = "key",
     .summary = "Answers a key's value as bytes that RESTORE takes, here or on Redis 7.",
     .since = "2.6.0",
     .tips = "nondeterministic_output",
     .run = dump_key},
    {.name = "restore",
     .arity = -4,
     .flags = kWrites | kDenyOom | kDangerous,
     .keys = {1, 1, 1, 0, KeyUse::kOverwrites},
     .audit = Audit::kNo,
     .group = "generic",
     .usage = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
     .summary = "Makes a key from what DUMP answered, here or on Redis up to 7.2.",
     .since = "2.6.0",
     .run = restore_key},
};

}  // namespace

Commands dump_commands() { return kDumpCommands; }

}  // namespace weir::server
