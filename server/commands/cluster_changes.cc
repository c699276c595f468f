// Subcommands of CLUSTER that would change who has what. That is in the configuration, so they are
// refused in words.
#include "server/commands/command_lists.h"
#include "server/core/run/cluster.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void refuse_change(Call& call) {
  const Cluster& cluster = server_of(call).executor().cluster();
  if (!cluster.on()) return call.reply.error("ERR This instance has cluster support disabled");
  if (cluster.is_of_shard()) {
    return call.reply.error(
        "ERR a shard has the slots that it was founded with, and its members are those that follow "
        "its log");
  }
  call.reply.error(
      "ERR the topology of this cluster comes from the configuration: change the file of "
      "cluster-topology on all servers, and have them read it with SIGHUP");
}

constexpr Command change(Command command) {
  if (command.flags == 0) command.flags = kAdmin | kStale | kNoAsyncLoading;
  command.audit = Audit::kNo;
  command.group = "cluster";
  command.categories = "-";
  command.summary = "An error: the topology comes from the configuration.";
  if (command.since.empty()) command.since = "3.0.0";
  command.run = refuse_change;
  return command;
}

constexpr Command kClusterChangesCommands[] = {
    change({.name = "cluster|addslots", .arity = -3, .usage = "slot:integer [slot:integer ...]"}),
    change(
        {.name = "cluster|addslotsrange",
         .arity = -4,
         .usage = "start-slot:integer end-slot:integer [start-slot:integer end-slot:integer ...]",
         .since = "7.0.0"}),
    change({.name = "cluster|bumpepoch", .arity = 2, .tips = "nondeterministic_output"}),
    change({.name = "cluster|delslots", .arity = -3, .usage = "slot:integer [slot:integer ...]"}),
    change(
        {.name = "cluster|delslotsrange",
         .arity = -4,
         .usage = "start-slot:integer end-slot:integer [start-slot:integer end-slot:integer ...]",
         .since = "7.0.0"}),
    change({.name = "cluster|flushslots", .arity = 2}),
    change({.name = "cluster|forget", .arity = 3, .usage = "node-id"}),
    change({.name = "cluster|meet",
            .arity = -4,
            .usage = "ip port:integer [cluster_bus_port:integer]"}),
    change({.name = "cluster|replicate", .arity = 3, .usage = "node-id"}),
    change({.name = "cluster|reset",
            .arity = -2,
            .flags = kAdmin | kNoScript | kStale,
            .usage = "[HARD | SOFT]"}),
    change({.name = "cluster|set-config-epoch", .arity = 3, .usage = "config-epoch:integer"}),
    change(
        {.name = "cluster|setslot",
         .arity = -4,
         .usage = "slot:integer <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>"}),
};

}  // namespace

Commands cluster_changes_commands() { return kClusterChangesCommands; }

}  // namespace weir::server
