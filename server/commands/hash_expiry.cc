// Expiry of single fields, which later versions of Redis have: refused by name. Here an expiry
// belongs to a key, because compaction drops a whole key by it.
#include "base/ascii.h"
#include "server/commands/command_lists.h"

namespace weir::server {
namespace {

void refuse_field_expiry(Call& call) {
  call.reply.error("ERR " + to_upper(call.command.name) +
                   " is not supported: only whole keys expire, see EXPIRE");
}

constexpr Command kHashExpiryCommands[] = {
    {.name = "hexpire",
     .arity = -6,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hpexpire",
     .arity = -6,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hexpireat",
     .arity = -6,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hpexpireat",
     .arity = -6,
     .flags = kWrites | kDenyOom | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hexpiretime",
     .arity = -5,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hpexpiretime",
     .arity = -5,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "httl",
     .arity = -5,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hpttl",
     .arity = -5,
     .flags = kReads | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
    {.name = "hpersist",
     .arity = -5,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "hash",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "An error, since only whole keys expire.",
     .since = "7.4.0",
     .run = refuse_field_expiry},
};

}  // namespace

Commands hash_expiry_commands() { return kHashExpiryCommands; }

}  // namespace weir::server
