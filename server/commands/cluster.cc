// CLUSTER, READONLY, READWRITE, ASKING: what clients of a Redis Cluster ask of each of its nodes.
// Nothing here changes who has what: that is in the configuration.
#include "server/core/run/cluster.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/command/reply_done.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/core/run/slot_walk.h"

namespace weir::server {
namespace {

constexpr int kBusPortOffset = 10000;  // weir has no bus; tools read the number

// A command that is answered by an error where there is no cluster.
template <void (*run)(Call& call, const Cluster& cluster)>
void in_cluster(Call& call) {
  const Cluster& cluster = server_of(call).executor().cluster();
  if (!cluster.on()) return call.reply.error("ERR This instance has cluster support disabled");
  run(call, cluster);
}

// What a client is told about an owner.
struct Shown {
  const Owner& owner;
  std::string id;
  std::string host;
  std::string hostname;
  int64_t port;  // for clients as this one is, over TLS or not
  int64_t plain_port;
  int64_t tls_port;  // 0: none of its own
};

// Answers "127.0.0.1" of "127.0.0.1:6379", "::1" of "[::1]:6379", and "" of a unix socket.
std::string host_part(const Peer& peer) {
  if (peer.type == ConnectionType::kUnixSocket) return {};
  std::string host = peer.local_address.substr(0, peer.local_address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host == "?" ? std::string() : host;
}

Shown shown_owner(const Call& call, const Cluster& cluster, size_t at) {
  const Config& config = server_of(call).config();
  const Owner& owner = cluster.topology().owners()[at];
  Shown shown{.owner = owner,
              .id = cluster.id_of(at),
              .host = owner.host,
              .hostname = at == cluster.me() ? config.cluster_announce_hostname : "",
              .port = owner.port_for(uses_tls(call.session.client().peer().type)),
              .plain_port = owner.port,
              .tls_port = owner.tls_port};
  if (!owner.host.empty()) return shown;
  // A server alone in its cluster is known by the address by which it was reached.
  const bool over_tls = uses_tls(call.session.client().peer().type) || config.port == 0;
  shown.port = over_tls ? config.tls_port : config.port;
  if (!over_tls && config.cluster_announce_port > 0) shown.port = config.cluster_announce_port;
  shown.plain_port = over_tls ? config.port : shown.port;
  shown.tls_port = config.tls_port;
  shown.host = config.cluster_announce_ip;
  if (shown.host.empty()) shown.host = host_part(call.session.client().peer());
  return shown;
}

void slots(Call& call, const Cluster& cluster) {
  const auto& owners = cluster.topology().owners();
  struct Row {
    SlotRange range;
    size_t owner;
  };
  std::vector<Row> rows;
  for (size_t at = 0; at < owners.size(); ++at) {
    for (const SlotRange& range : owners[at].ranges) rows.push_back({range, at});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.range.first < b.range.first; });
  call.reply.array(static_cast<int64_t>(rows.size()));
  for (const Row& row : rows) {
    const Shown shown = shown_owner(call, cluster, row.owner);
    call.reply.array(3);
    call.reply.integer(row.range.first);
    call.reply.integer(row.range.last);
    call.reply.array(4);
    call.reply.bulk(shown.host);
    call.reply.integer(shown.port);
    call.reply.bulk(shown.id);
    call.reply.map(shown.hostname.empty() ? 0 : 1);
    if (shown.hostname.empty()) continue;
    call.reply.bulk("hostname");
    call.reply.bulk(shown.hostname);
  }
}

void text_field(Call& call, std::string_view name, std::string_view value) {
  call.reply.bulk(name);
  call.reply.bulk(value);
}

void port_field(Call& call, std::string_view name, int64_t port) {
  if (port == 0) return;  // it is not there
  call.reply.bulk(name);
  call.reply.integer(port);
}

void shards(Call& call, const Cluster& cluster) {
  const auto& owners = cluster.topology().owners();
  call.reply.array(static_cast<int64_t>(owners.size()));
  for (size_t at = 0; at < owners.size(); ++at) {
    const Shown shown = shown_owner(call, cluster, at);
    call.reply.map(2);
    call.reply.bulk("slots");
    call.reply.array(static_cast<int64_t>(shown.owner.ranges.size()) * 2);
    for (const SlotRange& range : shown.owner.ranges) {
      call.reply.integer(range.first);
      call.reply.integer(range.last);
    }
    call.reply.bulk("nodes");
    call.reply.array(1);
    call.reply.map(6 + (shown.plain_port != 0) + (shown.tls_port != 0) + !shown.hostname.empty());
    text_field(call, "id", shown.id);
    port_field(call, "port", shown.plain_port);
    port_field(call, "tls-port", shown.tls_port);
    text_field(call, "ip", shown.host);
    text_field(call, "endpoint", shown.host);
    if (!shown.hostname.empty()) text_field(call, "hostname", shown.hostname);
    text_field(call, "role", "master");
    call.reply.bulk("replication-offset");
    call.reply.integer(0);
    text_field(call, "health", "online");
  }
}

void nodes(Call& call, const Cluster& cluster) {
  std::string text;
  const std::string epoch = std::to_string(cluster.topology().epoch());
  for (size_t at = 0; at < cluster.topology().owners().size(); ++at) {
    const Shown shown = shown_owner(call, cluster, at);
    text += shown.id + " " + shown.host + ":" + std::to_string(shown.port) + "@" +
            std::to_string(shown.port + kBusPortOffset);
    if (!shown.hostname.empty()) text += "," + shown.hostname;
    text += at == cluster.me() ? " myself,master - 0 0 " : " master - 0 0 ";
    text += epoch + " connected";
    for (const SlotRange& range : shown.owner.ranges) {
      text += " " + std::to_string(range.first);
      if (range.last != range.first) text += "-" + std::to_string(range.last);
    }
    text += "\n";
  }
  call.reply.verbatim(text);
}

void info(Call& call, const Cluster& cluster) {
  const Topology& topology = cluster.topology();
  const std::string owners = std::to_string(topology.owners().size());
  const std::string epoch = std::to_string(topology.epoch());
  const std::string slots = std::to_string(kSlots);
  std::string text =
      "cluster_state:ok\r\ncluster_slots_assigned:" + slots + "\r\ncluster_slots_ok:" + slots +
      "\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:" + owners +
      "\r\ncluster_size:" + owners + "\r\ncluster_current_epoch:" + epoch +
      "\r\ncluster_my_epoch:" + epoch +
      "\r\ncluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\n"
      "total_cluster_links_buffer_limit_exceeded:0\r\n";
  text += "cluster_topology_epoch:" + epoch + "\r\ncluster_topology_digest:" + topology.digest() +
          "\r\n";
  call.reply.verbatim(text);
}

void myid(Call& call, const Cluster& cluster) { call.reply.bulk(cluster.id_of(cluster.me())); }

void keyslot(Call& call, const Cluster&) { call.reply.integer(hash_slot(call.args[2])); }

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
  std::vector<std::string> found;
  visit_slot(call, *slot, [&](std::string_view key) {
    const bool fits = static_cast<int64_t>(found.size()) < *most;
    if (fits) found.emplace_back(key);
    return fits;
  });
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const std::string& key : found) call.reply.bulk(key);
}

// No server has replicas, and none reports another.
template <void (*reply)(Call& call)>
void of_node(Call& call, const Cluster& cluster) {
  for (size_t at = 0; at < cluster.topology().owners().size(); ++at) {
    if (cluster.id_of(at) == call.args[2]) return reply(call);
  }
  const std::string_view id = call.args[2];  // Redis shows it up to a NUL
  call.reply.error("ERR Unknown node " + std::string(id.substr(0, id.find('\0'))));
}

void no_rows(Call& call) { call.reply.array(0); }
void zero(Call& call) { call.reply.integer(0); }
void links(Call& call, const Cluster&) { call.reply.array(0); }
void ok(Call& call, const Cluster&) { call.reply.status("OK"); }
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
                 .summary = "OK in a cluster, which has no replicas to read from.",
                 .run = in_cluster<ok>}),
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
                 .run = in_cluster<of_node<zero>>}),
    cluster_row({.name = "cluster|countkeysinslot",
                 .arity = 3,
                 .flags = kStale,
                 .usage = "slot:integer",
                 .summary = "Answers how many keys a slot has here.",
                 .run = in_cluster<countkeysinslot>}),
    cluster_row({.name = "cluster|failover",
                 .arity = -2,
                 .flags = kChanges,
                 .audit = Audit::kYes,
                 .usage = "[FORCE | TAKEOVER]",
                 .summary = "Makes a standby of a shard its primary; in a cluster an error.",
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
         .summary = "Answers the state of the cluster, and the topology's epoch and digest.",
         .tips = kChanging,
         .run = in_cluster<info>}),
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
                 .run = in_cluster<myid>}),
    cluster_row({.name = "cluster|myshardid",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers the id of this node's shard, which is the node's.",
                 .since = "7.2.0",
                 .tips = kChanging,
                 .run = in_cluster<myid>}),
    cluster_row({.name = "cluster|nodes",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers a line for each node: id, address, epoch, slots.",
                 .tips = kChanging,
                 .run = in_cluster<nodes>}),
    cluster_row({.name = "cluster|replicas",
                 .arity = 3,
                 .flags = kAdmin | kStale,
                 .audit = Audit::kNo,
                 .usage = "node-id",
                 .summary = "Answers an empty list: there are no replicas.",
                 .since = "5.0.0",
                 .tips = kChanging,
                 .run = in_cluster<of_node<no_rows>>}),
    cluster_row({.name = "cluster|saveconfig",
                 .arity = 2,
                 .flags = kChanges,
                 .audit = Audit::kNo,
                 .summary = "OK: there is nothing that is not on disk.",
                 .run = in_cluster<ok>}),
    cluster_row({.name = "cluster|shards",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers each node with its slots.",
                 .since = "7.0.0",
                 .tips = kChanging,
                 .run = in_cluster<shards>}),
    cluster_row({.name = "cluster|slaves",
                 .arity = 3,
                 .flags = kAdmin | kStale,
                 .audit = Audit::kNo,
                 .usage = "node-id",
                 .summary = "Answers an empty list: there are no replicas.",
                 .tips = kChanging,
                 .run = in_cluster<of_node<no_rows>>}),
    cluster_row({.name = "cluster|slots",
                 .arity = 2,
                 .flags = kStale,
                 .summary = "Answers each range of slots with its node.",
                 .tips = kChanging,
                 .run = in_cluster<slots>}),
};

}  // namespace

Commands cluster_commands() { return kClusterCommands; }

}  // namespace weir::server
