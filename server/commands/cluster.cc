// CLUSTER, READONLY, READWRITE, ASKING: what clients of a Redis Cluster ask of each of its nodes.
// Nothing here changes who has what: that is in the configuration.
#include "server/core/run/cluster.h"

#include <functional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/error_replied.h"
#include "server/command/reply_done.h"
#include "server/commands/cluster_map.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/core/run/slot_walk.h"

namespace weir::server {
namespace {

// A command that is answered by an error where there is no cluster.
template <void (*run)(Call& call, const Cluster& cluster)>
void in_cluster(Call& call) {
  Cluster& cluster = server_of(call).executor().cluster();
  if (!cluster.on()) return call.reply.error("ERR This instance has cluster support disabled");
  cluster.look_at_members();
  run(call, cluster);
}

void keyslot(Call& call, const Cluster&) { call.reply.integer(hash_slot(call.args[2])); }

// A standby may have read more than is committed, and Redis' replicas, which answer, have no such
// thing.
Result<void, ErrorReplied> serves_data(Call& call) {
  const Membership* const member = server_of(call).shard_role().membership();
  if (member == nullptr || member->serves()) return {};
  return reply_error(
      call,
      "ERR this member does not serve its shard, and may have more than is committed: ask the "
      "primary");
}

// Visits live keys of a slot until that answers false.
void visit_slot(Call& call, int64_t slot, const std::function<bool(std::string_view key)>& visit) {
  const auto number = static_cast<int>(slot);
  bool goes_on = true;
  for (SlotWalk walk(&call.keys, {number, number}); goes_on && walk.next([&](std::string_view key) {
         call.work().charge_entries(1);
         goes_on = goes_on && visit(key);
       });) {
  }
}

void countkeysinslot(Call& call, const Cluster&) {
  const auto slot = integer_argument(call, call.args[2]);
  if (!slot) return;
  if (*slot < 0 || *slot >= kSlots) return call.reply.error("ERR Invalid slot");
  if (!serves_data(call)) return;
  int64_t count = 0;
  visit_slot(call, *slot, [&](std::string_view) { return ++count > 0; });
  call.reply.integer(count);
}

void getkeysinslot(Call& call, const Cluster&) {
  const auto slot = integer_argument(call, call.args[2]);
  if (!slot) return;
  const auto most = integer_argument(call, call.args[3]);
  if (!most) return;
  if (*slot < 0 || *slot >= kSlots || *most < 0)
    return call.reply.error("ERR Invalid slot or number of keys");
  if (!serves_data(call)) return;
  std::vector<std::string> found;
  visit_slot(call, *slot, [&](std::string_view key) {
    const bool fits = static_cast<int64_t>(found.size()) < *most;
    if (fits) found.emplace_back(key);
    return fits;
  });
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const std::string& key : found) call.reply.bulk(key);
}

void links(Call& call, const Cluster&) { call.reply.array(0); }
void ok(Call& call, const Cluster&) { call.reply.status("OK"); }
void readonly(Call& call, const Cluster&) {
  call.session.activity().note_follows();
  call.reply.status("OK");
}
void help(Call& call, const Cluster&) { container_help(call); }

constexpr std::string_view kNoReplica = "ERR You should send CLUSTER FAILOVER to a replica";

void no_replica(Call& call, const Cluster&) { call.reply.error(kNoReplica); }

// A standby of a shard is asked for this as a replica of a Redis Cluster is.
void cluster_failover(Call& call) {
  Membership* const member = server_of(call).shard_role().membership();
  if (member == nullptr) return in_cluster<no_replica>(call);
  MemberOrder order{.kind = MemberOrder::Kind::kAskForSwitchover};
  if (call.args.size() > 3) return call.reply.error("ERR syntax error");
  if (call.args.size() == 3) {
    const std::string_view how = call.args[2];
    if (!equals_ignoring_case(how, "FORCE") && !equals_ignoring_case(how, "TAKEOVER"))
      return call.reply.error("ERR syntax error");
    order.kind = MemberOrder::Kind::kTakeOver;
  }
  const MemberView seen = member->view();
  if (seen.node == seen.primary_node) return call.reply.error(kNoReplica);
  reply_done(call, member->order(order));
}

constexpr std::string_view kChanging = "nondeterministic_output";
constexpr uint32_t kChanges = kAdmin | kStale | kNoAsyncLoading;

constexpr Command cluster_row(Command command) {
  command.group = "cluster";
  if (command.categories.empty()) command.categories = "-";
  if (command.since.empty()) command.since = "3.0.0";
  return command;
}

constexpr Command kClusterCommands[] = {
    cluster_row({.name = "asking",
                 .arity = 1,
                 .flags = kFast,
                 .categories = "connection",
                 .summary = "OK in a cluster, where slots never move one by one.",
                 .run = in_cluster<ok>}),
    cluster_row({.name = "readonly",
                 .arity = 1,
                 .flags = kFast | kLoading,
                 .categories = "connection",
                 .summary = "OK in a cluster, whose standbys lead to the primary all the same.",
                 .run = in_cluster<readonly>}),
    cluster_row({.name = "readwrite",
                 .arity = 1,
                 .flags = kFast | kLoading,
                 .categories = "connection",
                 .summary = "OK in a cluster.",
                 .run = in_cluster<ok>}),
    cluster_row({.name = "cluster",
                 .arity = -2,
                 .flags = kContainer,
                 .summary = "What clients of a cluster ask; errors if cluster-enabled is off."}),
    cluster_row({.name = "cluster|count-failure-reports",
                 .arity = 3,
                 .flags = kAdmin | kStale,
                 .audit = Audit::kNo,
                 .usage = "node-id",
                 .summary = "Answers 0: servers do not watch one another.",
                 .tips = kChanging,
                 .run = in_cluster<cluster_count_failure_reports>}),
    cluster_row({.name = "cluster|countkeysinslot",
                 .arity = 3,
                 .flags = kStale,
                 .usage = "slot:integer",
                 .summary = "Answers how many keys a slot has here.",
                 .run = in_cluster<countkeysinslot>}),
    cluster_row(
        {.name = "cluster|failover",
         .arity = -2,
         .flags = kChanges,
         .audit = Audit::kYes,
         .usage = "[FORCE | TAKEOVER]",
         .summary = "Makes a standby of a shard its primary; an error where there is no shard.",
         .run = cluster_failover}),
    cluster_row({.name = "cluster|getkeysinslot",
                 .arity = 4,
                 .flags = kStale,
                 .usage = "slot:integer count:integer",
                 .summary = "Answers keys of a slot.",
                 .tips = kChanging,
                 .run = in_cluster<getkeysinslot>}),
    cluster_row({.name = "cluster|help",
                 .arity = 2,
                 .flags = kLoading,
                 .summary = "Lists the subcommands.",
                 .since = "5.0.0",
                 .run = in_cluster<help>}),
    cluster_row(
        {.name = "cluster|info",
         .arity = 2,
         .flags = kStale,
         .summary = "Answers the state of the cluster, and a digest of its topology or map.",
         .tips = kChanging,
         .run = in_cluster<cluster_info>}),
    cluster_row({.name = "cluster|keyslot",
                 .arity = 3,
                 .flags = kStale,
                 .usage = "key:string",
                 .summary = "Answers the hash slot of a key.",
                 .run = in_cluster<keyslot>}),
    cluster_row({.name = "cluster|links",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers an empty list: servers do not talk to one another.",
                 .since = "7.0.0",
                 .tips = kChanging,
                 .run = in_cluster<links>}),
    cluster_row({.name = "cluster|myid",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers the id of this node.",
                 .run = in_cluster<cluster_myid>}),
    cluster_row(
        {.name = "cluster|myshardid",
         .arity = 2,
         .flags = kStale,
         .summary = "Answers the id of this node's shard, which is the node's if it is alone.",
         .since = "7.2.0",
         .tips = kChanging,
         .run = in_cluster<cluster_myshardid>}),
    cluster_row({.name = "cluster|nodes",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers a line for each node: id, address, epoch, slots.",
                 .tips = kChanging,
                 .run = in_cluster<cluster_nodes>}),
    cluster_row({.name = "cluster|replicas",
                 .arity = 3,
                 .flags = kAdmin | kStale,
                 .audit = Audit::kNo,
                 .usage = "node-id",
                 .summary = "Answers a line for each standby of a shard's primary.",
                 .since = "5.0.0",
                 .tips = kChanging,
                 .run = in_cluster<cluster_replicas>}),
    cluster_row({.name = "cluster|saveconfig",
                 .arity = 2,
                 .flags = kChanges,
                 .audit = Audit::kNo,
                 .summary = "OK: there is nothing that is not on disk.",
                 .run = in_cluster<ok>}),
    cluster_row({.name = "cluster|shards",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers each shard with its slots and nodes.",
                 .since = "7.0.0",
                 .tips = kChanging,
                 .run = in_cluster<cluster_shards>}),
    cluster_row({.name = "cluster|slaves",
                 .arity = 3,
                 .flags = kAdmin | kStale,
                 .audit = Audit::kNo,
                 .usage = "node-id",
                 .summary = "Answers a line for each standby of a shard's primary.",
                 .tips = kChanging,
                 .run = in_cluster<cluster_replicas>}),
    cluster_row({.name = "cluster|slots",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers each range of slots with its nodes, the primary first.",
                 .tips = kChanging,
                 .run = in_cluster<cluster_slots>}),
};

}  // namespace

Commands cluster_commands() { return kClusterCommands; }

}  // namespace weir::server
