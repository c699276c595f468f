// Walks over a database: KEYS, SCAN, RANDOMKEY.
#include <string>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/types/lookups.h"
#include "server/types/scan.h"

namespace weir::server {
namespace {

constexpr size_t kStep = 1000;
// Applies TYPE in addition to the pattern.
bool accepts(const Call& call, const ScanOptions& options, const storage::Seen& seen) {
  if (options.type && !equals_ignoring_case(*options.type, type_name(seen.type))) return false;
  return options.accepts(call, seen.key);
}

void keys(Call& call) {
  if (!check_pattern(call, call.args[1])) return;
  const ScanOptions options{.pattern = call.args[1]};
  Bulks found(call.reply);
  uint64_t cursor = 0;
  do {
    cursor = call.keys.scan(call.database, cursor, kStep, [&](const storage::Seen& seen) {
      call.work().charge_entries(1);
      if (accepts(call, options, seen)) found.add(seen.key);
    });
  } while (cursor != 0);
  found.reply(call);
}

void scan(Call& call) {
  const auto cursor = cursor_argument(call, call.args[1]);
  if (!cursor) return;
  const auto options = scan_options(call, 2, true);
  if (!options) return;
  Bulks found(call.reply);
  const auto add = [&](const storage::Seen& seen) {
    if (accepts(call, *options, seen)) found.add(seen.key);
  };
  const uint64_t next = scan_page(
      call, *cursor, options->count, found,
      [&](uint64_t from, size_t count) { return call.keys.scan(call.database, from, count, add); });
  reply_page(call, next, found);
}

// Answers the first key after a random place. A key after a wide gap is likelier than its
// neighbours.
void randomkey(Call& call) {
  const uint64_t start = call.host.random() & kCursorMask;
  std::string found;
  bool any = false;
  const auto look_from = [&](uint64_t cursor) {
    call.work().charge_entries(1);
    return call.keys.scan(call.database, cursor, 1, [&](const storage::Seen& seen) {
      if (!any) found = seen.key;
      any = true;
    });
  };
  uint64_t cursor = start;
  do {
    cursor = look_from(cursor);
  } while (!any && cursor != 0);
  if (!any) {
    do {
      cursor = look_from(cursor);
    } while (!any && cursor != 0 && cursor < start);
  }
  any ? call.reply.bulk(found) : call.reply.null();
}

constexpr Command kKeysWalkCommands[] = {
    {.name = "keys",
     .arity = 2,
     .flags = kReads | kDangerous,
     .audit = Audit::kNo,
     .group = "generic",
     .usage = "pattern",
     .summary = "Answers all keys of the database that match a pattern; holds up everybody.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards nondeterministic_output_order",
     .run = keys},
    {.name = "scan",
     .arity = -2,
     .flags = kReads,
     .group = "generic",
     .usage = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .summary = "Answers some keys of the database and the cursor to go on from, 0 at the end.",
     .since = "2.8.0",
     .tips = "nondeterministic_output request_policy:special",
     .run = scan},
    {.name = "randomkey",
     .arity = 1,
     .flags = kReads,
     .group = "generic",
     .summary = "Answers one key of the database.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards nondeterministic_output",
     .run = randomkey},
};

}  // namespace

Commands keys_walk_commands() { return kKeysWalkCommands; }

}  // namespace weir::server
