// Whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB.
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void dbsize(Call& call) { call.reply.integer(static_cast<int64_t>(call.keys.size(call.database))); }

// ASYNC and SYNC do the same: a database is dropped at once and its memory freed in slices.
Result<void, ErrorReplied> check_flush_arguments(Call& call) {
  if (call.args.size() == 1) return {};
  const std::string_view mode = call.args[1];
  if (call.args.size() == 2 &&
      (equals_ignoring_case(mode, "SYNC") || equals_ignoring_case(mode, "ASYNC"))) {
    return {};
  }
  return reply_error(call, kSyntaxError);
}

void flushdb(Call& call) {
  if (!check_flush_arguments(call)) return;
  call.keys.clear(call.database);
  server_of(call).messages().tracking().everything_changed();
  call.reply.status("OK");
}

void flushall(Call& call) {
  if (!check_flush_arguments(call)) return;
  for (int database = 0; database < call.keys.options().databases; ++database)
    call.keys.clear(database);
  call.limiters.top.reset(call.limiters.top.denied.capacity());
  server_of(call).messages().tracking().everything_changed();
  call.reply.status("OK");
}

Result<int, ErrorReplied> swapped_database(Call& call, std::string_view text,
                                           std::string_view error) {
  const auto number = resp::parse_int64(text);
  if (number && *number >= INT32_MIN && *number <= INT32_MAX) return static_cast<int>(*number);
  return reply_error(call, error);
}

void swapdb(Call& call) {
  if (server_of(call).config().cluster_enabled)
    return call.reply.error("ERR SWAPDB is not allowed in cluster mode");
  const auto first = swapped_database(call, call.args[1], "ERR invalid first DB index");
  if (!first) return;
  const auto second = swapped_database(call, call.args[2], "ERR invalid second DB index");
  if (!second) return;
  const auto is_one = [&](int database) {
    return database >= 0 && database < call.keys.options().databases;
  };
  if (!is_one(*first) || !is_one(*second)) return call.reply.error(kDatabaseOutOfRange);
  if (*first != *second) {
    call.keys.swap(*first, *second);
    server_of(call).messages().tracking().everything_changed();
  }
  call.reply.status("OK");
}

constexpr Command kDatabasesCommands[] = {
    {.name = "dbsize",
     .arity = 1,
     .flags = kReads | kFast,
     .group = "server",
     .summary = "Answers how many keys the database has.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards response_policy:agg_sum",
     .run = dbsize},
    {.name = "flushdb",
     .arity = -1,
     .flags = kWrites | kDangerous,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "[ASYNC | SYNC]",
     .summary = "Deletes all keys of the database.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = flushdb},
    {.name = "flushall",
     .arity = -1,
     .flags = kWrites | kDangerous,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "[ASYNC | SYNC]",
     .summary = "Deletes all keys of all databases.",
     .since = "1.0.0",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = flushall},
    {.name = "swapdb",
     .arity = 3,
     .flags = kWrites | kFast | kDangerous,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "index1 index2",
     .summary = "Exchanges the contents of two databases, for all clients at once.",
     .since = "4.0.0",
     .run = swapdb},
};

}  // namespace

Commands databases_commands() { return kDatabasesCommands; }

}  // namespace weir::server
