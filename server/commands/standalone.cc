// Commands for what a standalone server is not: part of a cluster, a replica or a master of
// replicas, a host of modules. Each is known by name. It is answered as Redis answers when the
// feature is switched off, or refused in words.
#include <string>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/core/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kNoReplication =
    "ERR weir does not replicate: it is its own master and has no replicas";

void no_cluster(Call& call) { call.reply.error("ERR This instance has cluster support disabled"); }

void no_replication(Call& call) { call.reply.error(kNoReplication); }

// A client that makes the server a master is told that it is one.
void replicaof(Call& call) {
  if (equals_ignoring_case(call.args[1], "NO") && equals_ignoring_case(call.args[2], "ONE")) {
    return call.reply.status("OK");
  }
  call.reply.error(kNoReplication);
}

void failover(Call& call) {
  if (call.args.size() > 1 && equals_ignoring_case(call.args[1], "ABORT"))
    return call.reply.error("ERR No failover in progress.");
  call.reply.error("ERR FAILOVER requires connected replicas.");
}

void module_list(Call& call) { call.reply.array(0); }

void no_modules(Call& call) { call.reply.error("ERR weir loads no modules"); }

constexpr std::string_view kChanging = "nondeterministic_output";

constexpr Command of_cluster(std::string_view name, int arity, uint32_t flags,
                             std::string_view since, std::string_view usage = {},
                             std::string_view tips = {}) {
  return {.name = name,
          .arity = arity,
          .flags = flags,
          .group = "cluster",
          .categories = "-",
          .usage = usage,
          .summary = "An error, since there is no cluster.",
          .since = since,
          .tips = tips,
          .run = no_cluster};
}

// What a cluster's clients say of their connection.
constexpr Command of_connection(std::string_view name, uint32_t flags) {
  Command command = of_cluster(name, 1, flags, "3.0.0");
  command.categories = "connection";
  return command;
}

// Every row but its name, arity, usage, summary, version and function.
constexpr Command of_replication(Command command, uint32_t flags) {
  command.flags = kAdmin | kNoScript | flags;
  command.group = "server";
  return command;
}

constexpr uint32_t kModuleFlags = kAdmin | kNoScript | kNoAsyncLoading;

constexpr Command of_modules(Command command, uint32_t flags) {
  command.flags = flags;
  command.group = "server";
  if (command.since.empty()) command.since = "4.0.0";
  return command;
}

constexpr Command kCommands[] = {
    of_connection("asking", kFast),
    of_connection("readonly", kFast | kLoading),
    of_connection("readwrite", kFast | kLoading),
    {.name = "cluster",
     .arity = -2,
     .flags = kContainer,
     .group = "cluster",
     .summary = "Errors, since there is no cluster.",
     .since = "3.0.0"},
    of_cluster("cluster|addslots", -3, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "slot:integer [slot:integer ...]"),
    of_cluster("cluster|addslotsrange", -4, kAdmin | kStale | kNoAsyncLoading, "7.0.0",
               "start-slot:integer end-slot:integer [start-slot:integer end-slot:integer ...]"),
    of_cluster("cluster|bumpepoch", 2, kAdmin | kStale | kNoAsyncLoading, "3.0.0", {}, kChanging),
    of_cluster("cluster|count-failure-reports", 3, kAdmin | kStale, "3.0.0", "node-id", kChanging),
    of_cluster("cluster|countkeysinslot", 3, kStale, "3.0.0", "slot:integer"),
    of_cluster("cluster|delslots", -3, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "slot:integer [slot:integer ...]"),
    of_cluster("cluster|delslotsrange", -4, kAdmin | kStale | kNoAsyncLoading, "7.0.0",
               "start-slot:integer end-slot:integer [start-slot:integer end-slot:integer ...]"),
    of_cluster("cluster|failover", -2, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "[FORCE | TAKEOVER]"),
    of_cluster("cluster|flushslots", 2, kAdmin | kStale | kNoAsyncLoading, "3.0.0"),
    of_cluster("cluster|forget", 3, kAdmin | kStale | kNoAsyncLoading, "3.0.0", "node-id"),
    of_cluster("cluster|getkeysinslot", 4, kStale, "3.0.0", "slot:integer count:integer",
               kChanging),
    of_cluster("cluster|help", 2, kLoading, "5.0.0"),
    of_cluster("cluster|info", 2, kStale, "3.0.0", {}, kChanging),
    of_cluster("cluster|keyslot", 3, kStale, "3.0.0", "key:string"),
    of_cluster("cluster|links", 2, kStale, "7.0.0", {}, kChanging),
    of_cluster("cluster|meet", -4, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "ip port:integer [cluster_bus_port:integer]"),
    of_cluster("cluster|myid", 2, kStale, "3.0.0"),
    of_cluster("cluster|nodes", 2, kStale, "3.0.0", {}, kChanging),
    of_cluster("cluster|replicas", 3, kAdmin | kStale, "5.0.0", "node-id", kChanging),
    of_cluster("cluster|replicate", 3, kAdmin | kStale | kNoAsyncLoading, "3.0.0", "node-id"),
    of_cluster("cluster|reset", -2, kAdmin | kNoScript | kStale, "3.0.0", "[HARD | SOFT]"),
    of_cluster("cluster|saveconfig", 2, kAdmin | kStale | kNoAsyncLoading, "3.0.0"),
    of_cluster("cluster|set-config-epoch", 3, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "config-epoch:integer"),
    of_cluster("cluster|setslot", -4, kAdmin | kStale | kNoAsyncLoading, "3.0.0",
               "slot:integer <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>"),
    of_cluster("cluster|shards", 2, kStale, "7.0.0", {}, kChanging),
    of_cluster("cluster|slaves", 3, kAdmin | kStale, "3.0.0", "node-id", kChanging),
    of_cluster("cluster|slots", 2, kStale, "3.0.0", {}, kChanging),
    of_replication({.name = "failover",
                    .arity = -1,
                    .usage = "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
                    .summary = "An error, since there is no replica to take over.",
                    .since = "6.2.0",
                    .run = failover},
                   kStale),
    of_replication({.name = "psync",
                    .arity = -3,
                    .usage = "replicationid offset",
                    .summary = "An error, since nothing is replicated.",
                    .since = "2.8.0",
                    .run = no_replication},
                   kNoAsyncLoading | kNoMulti),
    of_replication({.name = "replconf",
                    .arity = -1,
                    .summary = "An error, since nothing is replicated.",
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
                    .summary = "An error, since nothing is replicated.",
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

Commands standalone_commands() { return kCommands; }

}  // namespace weir::server
