// What other clients do: SLOWLOG, the commands that took long; MONITOR, all commands as they come.
#include <algorithm>

#include "resp/numbers.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void reply_entry(resp::ReplyWriter& reply, const SlowLog::Entry& entry) {
  reply.array(6);
  reply.integer(static_cast<int64_t>(entry.id));
  reply.integer(entry.unix_s);
  reply.integer(entry.duration_us);
  reply.array(static_cast<int64_t>(entry.args.size()));
  for (const std::string& arg : entry.args) reply.bulk(arg);
  reply.bulk(entry.address);
  reply.bulk(entry.client_name);
}

void slowlog_get(Call& call) {
  constexpr int64_t kUsual = 10;
  if (call.args.size() > 3) {
    return call.reply.error(
        "ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.");
  }
  const auto asked = call.args.size() == 3 ? resp::parse_int64(call.args[2]) : kUsual;
  if (!asked || *asked < -1)
    return call.reply.error("ERR count should be greater than or equal to -1");
  const auto& entries = server_of(call).report().slow_log.entries();
  const auto all = static_cast<int64_t>(entries.size());
  const int64_t count = *asked == -1 ? all : std::min(*asked, all);
  call.reply.array(count);
  for (int64_t i = 0; i < count; ++i) reply_entry(call.reply, entries[static_cast<size_t>(i)]);
}

void slowlog_len(Call& call) {
  call.reply.integer(static_cast<int64_t>(server_of(call).report().slow_log.entries().size()));
}

void slowlog_reset(Call& call) {
  server_of(call).report().slow_log.clear();
  call.reply.status("OK");
}

// A second MONITOR on the same connection is not answered; Redis does the same.
void monitor(Call& call) {
  if (!call.session.wait_state().permitted())
    return call.reply.error("ERR MONITOR isn't allowed for DENY BLOCKING client");
  if (call.session.listening().monitors) return;
  server_of(call).messages().monitors().add(call.session);
  call.reply.status("OK");
}

constexpr Command slowlog_row(Command command) {
  command.flags |= kLoading;
  command.group = "server";
  return command;
}

constexpr Command kSlowlogCommands[] = {
    {.name = "slowlog",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "Keeps the latest commands that took long.",
     .since = "2.2.12"},
    slowlog_row({.name = "slowlog|get",
                 .arity = -2,
                 .flags = kAdmin,
                 .audit = Audit::kNo,
                 .usage = "[count]",
                 .summary =
                     "Answers entries, the newest first: number, Unix seconds, microseconds taken, "
                     "arguments, client's address and name.",
                 .since = "2.2.12",
                 .tips = "request_policy:all_nodes nondeterministic_output",
                 .run = slowlog_get}),
    slowlog_row({.name = "slowlog|help",
                 .arity = 2,
                 .summary = "Lists the subcommands.",
                 .since = "6.2.0",
                 .run = container_help}),
    slowlog_row({.name = "slowlog|len",
                 .arity = 2,
                 .flags = kAdmin,
                 .audit = Audit::kNo,
                 .summary = "Answers how many entries there are.",
                 .since = "2.2.12",
                 .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
                 .run = slowlog_len}),
    slowlog_row({.name = "slowlog|reset",
                 .arity = 2,
                 .flags = kAdmin,
                 .audit = Audit::kYes,
                 .summary = "Forgets all entries.",
                 .since = "2.2.12",
                 .tips = "request_policy:all_nodes response_policy:all_succeeded",
                 .run = slowlog_reset}),
    slowlog_row({.name = "monitor",
                 .arity = 1,
                 .flags = kAdmin | kNoScript,
                 .audit = Audit::kNo,
                 .summary = "Shows every command that is run from now on, passwords apart.",
                 .since = "1.0.0",
                 .run = monitor}),
};

}  // namespace

Commands slowlog_commands() { return kSlowlogCommands; }

}  // namespace weir::server
