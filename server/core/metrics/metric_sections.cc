#include "server/core/metrics/metric_sections.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/acl/acl.h"
#include "server/core/run/cluster.h"
#include "server/core/run/server.h"
#include "server/report/info_text.h"
#include "server/report/report_metrics.h"

namespace weir::server {
namespace {

void write_clients_section(Server& server, MetricWriter& out) {
  size_t input_max = 0;
  size_t output_max = 0;
  size_t paused = 0;
  size_t watching = 0;
  for (const auto& [id, session] : server.sessions().all()) {
    if (session->hold() == Hold::kPause) ++paused;
    if (is_for_metrics(session->client().peer().type)) ++watching;
    input_max = std::max(input_max, session->input().size());
    output_max = std::max(output_max, session->replies().unsent_bytes());
  }
  out.gauge({"connected_clients", "Clients that are connected."}, server.sessions().all().size());
  out.gauge({"metrics_clients", "Clients of metrics-port: its page, and who scrapes."}, watching);
  out.absent({"cluster_connections"});
  out.gauge({"maxclients", "Clients that may be connected."}, server.config().maxclients);
  out.gauge({"client_recent_max_input_buffer", "Bytes of the longest unread request.", kByteMetric},
            input_max);
  out.gauge(
      {"client_recent_max_output_buffer", "Bytes of the longest unsent replies.", kByteMetric},
      output_max);
  out.gauge(
      {"blocked_clients", "Clients whose command waits for a key, an instant or a pause's end."},
      server.waiting().size() + paused);
  out.gauge({"wait_queues", "Keys, and requests let in by LEAKY limits, that clients wait for."},
            server.waiting().queues());
  out.gauge({"wait_queue_longest", "Clients that wait for the same key, where they are most."},
            server.waiting().longest_queue());
  out.gauge({"tracking_clients", "Clients that keep copies of keys and are told of changes."},
            server.messages().tracking().sessions());
  out.absent({"clients_in_timeout_table"});
}

void write_stats_section(Server& server, MetricWriter& out) {
  const Stats& stats = server.report().stats;
  write_traffic_metrics(server.report(), out);
  out.absent({"total_net_repl_input_bytes", "total_net_repl_output_bytes"});
  out.absent("instantaneous_input_repl_kbps", "0");
  out.absent("instantaneous_output_repl_kbps", "0");
  out.counter({"rejected_connections", "Connections refused, being too many."},
              stats.connections_rejected);
  out.absent({"sync_full", "sync_partial_ok", "sync_partial_err"});
  out.counter({"expired_keys", "Keys whose time ended."},
              server.keys().metrics().expired - stats.expired_before);
  out.absent("expired_stale_perc", "0.00");
  out.absent({"expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds", "evicted_keys"});
  out.counter({"evicted_clients", "Clients closed because of maxmemory-clients."},
              server.sessions().bounds().evicted());
  out.absent({"total_eviction_exceeded_time", "current_eviction_exceeded_time"});
  write_look_up_metrics(server.report(), out);
  server.messages().pubsub().write_metrics(out);
  out.absent({"latest_fork_usec", "total_forks", "migrate_cached_sockets",
              "slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses",
              "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time",
              "current_active_defrag_time"});
  server.messages().tracking().write_metrics(out);
  out.absent({"unexpected_error_replies"});
  out.counter({"total_error_replies", "Errors that were answered."}, stats.error_replies);
  out.absent({"dump_payload_sanitizations"});
  write_socket_metrics(server.report(), out);
  out.absent({"io_threaded_reads_processed", "io_threaded_writes_processed", "reply_buffer_shrinks",
              "reply_buffer_expands"});
  server.acl().denials().write_metrics(out);
}

void write_modules_section(Server&, MetricWriter&) {}

void write_errorstats_section(Server& server, MetricWriter& out) {
  write_error_metrics(server.report(), out);
}

void write_limiter_section(Server& server, MetricWriter& out) {
  write_metrics(server.limiters(), out);
}

int slots_in(const SlotRanges& ranges) {
  int count = 0;
  for (const SlotRange& range : ranges) count += range.last - range.first + 1;
  return count;
}

void write_cluster_section(Server& server, MetricWriter& out) {
  out.gauge({"cluster_enabled", "Whether the Redis Cluster protocol is spoken."},
            server.config().cluster_enabled ? 1 : 0);
  if (!server.config().cluster_enabled) return;
  Cluster& cluster = server.executor().cluster();
  cluster.look_at_members();
  const SlotMap& map = cluster.map();
  out.gauge({"slots_owned", "Hash slots of this server, or of the shard that it is a member of."},
            map.own() == SlotMap::kNobody ? 0 : slots_in(map.shards()[map.own()].ranges));
  out.gauge({"slots_unowned", "Hash slots that this server shows for nobody."},
            kSlots - map.counts().assigned);
}

constexpr MetricSection kSections[] = {
    {"server", "Server", true, write_server_section},
    {"clients", "Clients", true, write_clients_section},
    {"memory", "Memory", true, write_memory_section},
    {"persistence", "Persistence", true, write_persistence_section},
    {"stats", "Stats", true, write_stats_section},
    {"replication", "Replication", true, write_replication_section},
    {"cpu", "CPU", true, write_cpu_section},
    {"modules", "Modules", true, write_modules_section},
    {"commandstats", "Commandstats", false, write_commandstats_section},
    {"errorstats", "Errorstats", true, write_errorstats_section},
    {"latencystats", "Latencystats", false, write_latencystats_section},
    {"weir", "Weir", true, write_weir_section},
    {"limiter", "Limiter", true, write_limiter_section},
    {"storage", "Storage", true, write_storage_section},
    {"cluster", "Cluster", true, write_cluster_section},
    {"keyspace", "Keyspace", true, write_keyspace_section},
};

bool is_wanted(const MetricSection& section, Args wanted) {
  if (wanted.empty()) return section.by_default;
  return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view word) {
    if (equals_ignoring_case(word, "all") || equals_ignoring_case(word, "everything")) return true;
    if (equals_ignoring_case(word, "default")) return section.by_default;
    return equals_ignoring_case(word, section.name);
  });
}

}  // namespace

std::span<const MetricSection> metric_sections() { return kSections; }

std::string info_text(Server& server, Args wanted) {
  InfoText out;
  for (const MetricSection& section : kSections) {
    if (!is_wanted(section, wanted)) continue;
    out.heading(section.title);
    section.write(server, out);
  }
  return out.take();
}

}  // namespace weir::server
