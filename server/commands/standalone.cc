// Commands for what a server is not: a replica or a master by Redis' protocol, a host of modules.
// (Members of a shard follow a shared log: failover.cc.) Each is known by name. It is answered as
// Redis answers when the feature is switched off, or refused in words.
#include <string>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kNoReplication =
    "ERR weir does not speak Redis' replication: the servers of a shard follow a shared log";

void no_replication(Call& call) { call.reply.error(kNoReplication); }

// A client that makes the server a master is told that it is one.
void replicaof(Call& call) {
  if (equals_ignoring_case(call.args[1], "NO") && equals_ignoring_case(call.args[2], "ONE")) {
    return call.reply.status("OK");
  }
  call.reply.error(kNoReplication);
}

void module_list(Call& call) { call.reply.array(0); }

void no_modules(Call& call) { call.reply.error("ERR weir loads no modules"); }

// Every row but its name, arity, usage, summary, version and function.
constexpr Command of_replication(Command command, uint32_t flags) {
  command.flags = kAdmin | kNoScript | flags;
  command.audit = Audit::kNo;
  command.group = "server";
  return command;
}

constexpr uint32_t kModuleFlags = kAdmin | kNoScript | kNoAsyncLoading;

constexpr Command of_modules(Command command, uint32_t flags) {
  command.flags = flags;
  command.audit = Audit::kNo;
  command.group = "server";
  if (command.since.empty()) command.since = "4.0.0";
  return command;
}

constexpr Command kStandaloneCommands[] = {
    of_replication({.name = "psync",
                    .arity = -3,
                    .usage = "replicationid offset",
                    .summary = "An error: weir does not speak Redis' replication.",
                    .since = "2.8.0",
                    .run = no_replication},
                   kNoAsyncLoading | kNoMulti),
    of_replication({.name = "replconf",
                    .arity = -1,
                    .summary = "An error: weir does not speak Redis' replication.",
                    .since = "3.0.0",
                    .run = no_replication},
                   kLoading | kAllowBusy),
    of_replication({.name = "replicaof",
                    .arity = 3,
                    .usage = "<host port | NO ONE>",
                    .summary = "OK for NO ONE, which changes nothing; else an error.",
                    .since = "5.0.0",
                    .run = replicaof},
                   kStale | kNoAsyncLoading),
    of_replication({.name = "slaveof",
                    .arity = 3,
                    .usage = "<host port | NO ONE>",
                    .summary = "OK for NO ONE, which changes nothing; else an error.",
                    .since = "1.0.0",
                    .run = replicaof},
                   kStale | kNoAsyncLoading),
    of_replication({.name = "sync",
                    .arity = 1,
                    .summary = "An error: weir does not speak Redis' replication.",
                    .since = "1.0.0",
                    .run = no_replication},
                   kNoAsyncLoading | kNoMulti),
    of_modules({.name = "module", .arity = -2, .summary = "Knows that there are no modules."},
               kContainer),
    of_modules({.name = "module|help",
                .arity = 2,
                .summary = "Lists the subcommands.",
                .since = "5.0.0",
                .run = container_help},
               kLoading),
    of_modules({.name = "module|list",
                .arity = 2,
                .summary = "Answers an empty list.",
                .tips = "nondeterministic_output_order",
                .run = module_list},
               kAdmin | kNoScript),
    of_modules({.name = "module|load",
                .arity = -3,
                .usage = "path [arg [arg ...]]",
                .summary = "An error, since no modules are loaded.",
                .run = no_modules},
               kModuleFlags),
    of_modules({.name = "module|loadex",
                .arity = -3,
                .usage = "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]",
                .summary = "An error, since no modules are loaded.",
                .since = "7.0.0",
                .run = no_modules},
               kModuleFlags),
    of_modules({.name = "module|unload",
                .arity = 3,
                .usage = "name",
                .summary = "An error, since no modules are loaded.",
                .run = no_modules},
               kModuleFlags),
};

}  // namespace

Commands standalone_commands() { return kStandaloneCommands; }

}  // namespace weir::server
