#include "server/commands/cluster_map.h"

#include <algorithm>
#include <vector>

#include "server/command/error_replied.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr int kBusPortOffset = 10000;  // weir has no bus; tools read the number

// What a client is told of where a member is.
struct Place {
  std::string host;
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

Place place_of(const Call& call, const ShownMember& member) {
  const Peer& peer = call.session.client().peer();
  Place place{.host = member.host,
              .port = member.port_for(uses_tls(peer.type)),
              .plain_port = member.port,
              .tls_port = member.tls_port};
  if (!member.host.empty()) return place;
  // A server alone in its cluster is known by the address by which it was reached.
  const Config& config = server_of(call).config();
  const bool over_tls = uses_tls(peer.type) || config.port == 0;
  place.port = over_tls ? config.tls_port : config.port;
  if (!over_tls && config.cluster_announce_port > 0) place.port = config.cluster_announce_port;
  place.plain_port = over_tls ? config.port : place.port;
  place.tls_port = config.tls_port;
  place.host = config.cluster_announce_ip;
  if (place.host.empty()) place.host = host_part(peer);
  return place;
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

void write_node_of_slots(Call& call, const ShownMember& member) {
  const Place place = place_of(call, member);
  call.reply.array(4);
  call.reply.bulk(place.host);
  call.reply.integer(place.port);
  call.reply.bulk(member.id);
  call.reply.map(member.hostname.empty() ? 0 : 1);
  if (!member.hostname.empty()) text_field(call, "hostname", member.hostname);
}

std::string_view word_of(ShownMember::Health health) {
  switch (health) {
    case ShownMember::Health::kOnline:
      return "online";
    case ShownMember::Health::kLoading:
      return "loading";
    case ShownMember::Health::kFailed:
      return "fail";
  }
  return "";
}

void write_node_of_shard(Call& call, const ShownMember& member) {
  const Place place = place_of(call, member);
  call.reply.map(6 + (place.plain_port != 0) + (place.tls_port != 0) + !member.hostname.empty());
  text_field(call, "id", member.id);
  port_field(call, "port", place.plain_port);
  port_field(call, "tls-port", place.tls_port);
  text_field(call, "ip", place.host);
  text_field(call, "endpoint", place.host);
  if (!member.hostname.empty()) text_field(call, "hostname", member.hostname);
  text_field(call, "role", member.is_primary ? "master" : "replica");
  call.reply.bulk("replication-offset");
  call.reply.integer(static_cast<int64_t>(member.turn));
  text_field(call, "health", word_of(member.health));
}

std::string flags_of(const ShownMember& member) {
  std::string flags = member.is_self ? "myself," : "";
  flags += member.is_primary ? "master" : "slave";
  return member.is_heard ? flags : flags + ",fail";
}

std::string line_of(const Call& call, const ShownShard& shard, const ShownMember& member) {
  const Place place = place_of(call, member);
  const ShownMember* const primary = shard.primary();
  std::string text = member.id + " " + place.host + ":" + std::to_string(place.port) + "@" +
                     std::to_string(place.port + kBusPortOffset);
  if (!member.hostname.empty()) text += "," + member.hostname;
  text += " " + flags_of(member) + " ";
  text += member.is_primary || primary == nullptr ? "-" : primary->id;
  text += " 0 0 " + std::to_string(shard.epoch);
  text += member.is_heard ? " connected" : " disconnected";
  if (!member.is_primary) return text;
  for (const SlotRange& range : shard.ranges) {
    text += " " + std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

Result<const ShownShard*, ErrorReplied> shard_named_by(Call& call, const Cluster& cluster) {
  const std::string_view id = call.args[2];
  const ShownShard* const shard = cluster.map().shard_of_member(id);
  if (shard != nullptr) return shard;
  // Redis shows it up to a NUL.
  return reply_error(call, "ERR Unknown node " + std::string(id.substr(0, id.find('\0'))));
}

const ShownMember* self_of(const Cluster& cluster) {
  const SlotMap& map = cluster.map();
  if (map.own() == SlotMap::kNobody) return nullptr;
  const auto& members = map.shards()[map.own()].members;
  const auto self = std::find_if(members.begin(), members.end(),
                                 [](const ShownMember& member) { return member.is_self; });
  return self == members.end() ? nullptr : &*self;
}

}  // namespace

void cluster_slots(Call& call, const Cluster& cluster) {
  const std::vector<SlotMap::Row> rows = cluster.map().rows();
  call.reply.array(static_cast<int64_t>(rows.size()));
  for (const SlotMap::Row& row : rows) {
    const ShownShard& shard = cluster.map().shards()[row.shard];
    const auto is_listed = [](const ShownMember& member) {
      return !member.is_primary && member.is_heard;
    };
    const auto replicas = std::count_if(shard.members.begin(), shard.members.end(), is_listed);
    call.reply.array(3 + replicas);
    call.reply.integer(row.range.first);
    call.reply.integer(row.range.last);
    write_node_of_slots(call, *shard.primary());
    for (const ShownMember& member : shard.members)
      if (is_listed(member)) write_node_of_slots(call, member);
  }
}

void cluster_shards(Call& call, const Cluster& cluster) {
  const std::vector<ShownShard>& shards = cluster.map().shards();
  call.reply.array(static_cast<int64_t>(shards.size()));
  for (const ShownShard& shard : shards) {
    call.reply.map(2);
    call.reply.bulk("slots");
    call.reply.array(static_cast<int64_t>(shard.ranges.size()) * 2);
    for (const SlotRange& range : shard.ranges) {
      call.reply.integer(range.first);
      call.reply.integer(range.last);
    }
    call.reply.bulk("nodes");
    call.reply.array(static_cast<int64_t>(shard.members.size()));
    for (const ShownMember& member : shard.members) write_node_of_shard(call, member);
  }
}

void cluster_nodes(Call& call, const Cluster& cluster) {
  std::string text;
  for (const ShownShard& shard : cluster.map().shards()) {
    for (const ShownMember& member : shard.members) text += line_of(call, shard, member) + "\n";
  }
  call.reply.verbatim(text);
}

void cluster_info(Call& call, const Cluster& cluster) {
  const SlotMap& map = cluster.map();
  const SlotMap::Counts counts = map.counts();
  int64_t newest = 0;
  for (const ShownShard& shard : map.shards()) newest = std::max(newest, shard.epoch);
  const int64_t own = map.own() == SlotMap::kNobody ? 0 : map.shards()[map.own()].epoch;
  const auto field = [](std::string_view name, const std::string& value) {
    return std::string(name) + ":" + value + "\r\n";
  };
  const auto number = [&field](std::string_view name, int64_t value) {
    return field(name, std::to_string(value));
  };
  std::string text =
      field("cluster_state", counts.assigned == kSlots ? "ok" : "fail") +
      number("cluster_slots_assigned", counts.assigned) +
      number("cluster_slots_ok", counts.assigned - counts.quiet - counts.lost) +
      number("cluster_slots_pfail", counts.quiet) + number("cluster_slots_fail", counts.lost) +
      number("cluster_known_nodes", static_cast<int64_t>(counts.members)) +
      number("cluster_size", static_cast<int64_t>(counts.with_slots)) +
      number("cluster_current_epoch", newest) + number("cluster_my_epoch", own) +
      number("cluster_stats_messages_sent", 0) + number("cluster_stats_messages_received", 0) +
      number("total_cluster_links_buffer_limit_exceeded", 0);
  if (cluster.is_of_shard()) {
    text += field("cluster_id", cluster.id()) +
            number("cluster_slots_unowned", kSlots - counts.assigned) +
            field("cluster_map_digest", map.digest());
  } else {
    text += number("cluster_topology_epoch", cluster.topology().epoch()) +
            field("cluster_topology_digest", cluster.topology().digest());
  }
  call.reply.verbatim(text);
}

void cluster_myid(Call& call, const Cluster& cluster) {
  const ShownMember* const self = self_of(cluster);
  call.reply.bulk(self == nullptr ? "" : self->id);
}

void cluster_myshardid(Call& call, const Cluster& cluster) {
  const SlotMap& map = cluster.map();
  call.reply.bulk(map.own() == SlotMap::kNobody ? "" : map.shards()[map.own()].id);
}

void cluster_replicas(Call& call, const Cluster& cluster) {
  const auto named = shard_named_by(call, cluster);
  if (!named) return;
  const ShownShard* const shard = *named;
  const ShownMember* const primary = shard->primary();
  if (primary == nullptr || primary->id != call.args[2])
    return call.reply.error("ERR The specified node is not a master");
  call.reply.array(static_cast<int64_t>(shard->members.size()) - 1);
  for (const ShownMember& member : shard->members)
    if (!member.is_primary) call.reply.bulk(line_of(call, *shard, member));
}

// Servers do not report one another.
void cluster_count_failure_reports(Call& call, const Cluster& cluster) {
  if (shard_named_by(call, cluster)) call.reply.integer(0);
}

}  // namespace weir::server
