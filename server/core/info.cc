#include "server/core/info.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/acl/acl.h"
#include "server/core/server.h"
#include "server/os/machine.h"

namespace weir::server {
namespace {

constexpr int64_t kSecondsPerDay = 86400;
constexpr int64_t kLruClockPeriodS = 1 << 24;  // of Redis' 24 bits

std::string human(int64_t bytes) {
  constexpr char kUnits[] = {'B', 'K', 'M', 'G', 'T', 'P'};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%c" : "%.2f%c", value, kUnits[unit]);
  return text;
}

std::string system_name() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

void info_server(Server& server, InfoWriter& out) {
  const Config& config = server.config();
  const int64_t uptime_s =
      (server.clock().steady_ns() - server.report().started_steady_ns) / kNsPerS;
  std::error_code ignored;
  out.add("redis_version", kRedisVersion);
  out.add("redis_git_sha1", "00000000");
  out.add("redis_git_dirty", 0);
  out.add("redis_build_id", kWeirVersion);
  out.add("weir_version", kWeirVersion);
  out.add("redis_mode", "standalone");
  out.add("os", system_name());
  out.add("arch_bits", sizeof(void*) * 8);
  out.add("monotonic_clock", "POSIX clock_gettime");
  out.add("multiplexing_api", "epoll");
  out.add("gcc_version", __VERSION__);
  out.add("process_id", getpid());
  out.add("process_supervised", config.supervised == Supervision::kNo ? "no" : "systemd");
  out.add("run_id", server.report().run_id);
  out.add("tcp_port", config.port);
  out.add("server_time_usec", server.timeline().now_ns() / 1000);
  out.add("uptime_in_seconds", uptime_s);
  out.add("uptime_in_days", uptime_s / kSecondsPerDay);
  out.add("hz", config.hz);
  out.add("configured_hz", config.hz);
  out.add("lru_clock", server.timeline().now_ns() / kNsPerS % kLruClockPeriodS);
  out.add("executable", std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  out.add("config_file", config.config_file);
  out.add("io_threads_active", 0);
}

void info_clients(Server& server, InfoWriter& out) {
  size_t input_max = 0;
  size_t output_max = 0;
  for (const auto& [id, session] : server.sessions().all()) {
    input_max = std::max(input_max, session->input_bytes());
    output_max = std::max(output_max, session->unsent_bytes());
  }
  out.add("connected_clients", server.sessions().all().size());
  out.add("cluster_connections", 0);
  out.add("maxclients", server.config().maxclients);
  out.add("client_recent_max_input_buffer", input_max);
  out.add("client_recent_max_output_buffer", output_max);
  out.add("blocked_clients", server.waiting().size());
  out.add("tracking_clients", server.messages().tracking().sessions());
  out.add("clients_in_timeout_table", 0);
}

void info_persistence(Server& server, InfoWriter& out) {
  const bool logs = server.config().storage == StorageForm::kRocksdb;
  const int64_t saved_s = server.persistence().checkpoints.last_s();
  out.add("loading", 0);
  out.add("async_loading", 0);
  out.add_zeros({"current_cow_peak", "current_cow_size", "current_cow_size_age",
                 "current_fork_perc", "current_save_keys_processed", "current_save_keys_total"});
  out.add("rdb_changes_since_last_save",
          server.keys().turn() - server.persistence().checkpoints.last_turn());
  out.add("rdb_bgsave_in_progress", server.persistence().checkpoints.pending() ? 1 : 0);
  out.add("rdb_last_save_time", saved_s != 0 ? saved_s : server.report().started_wall_ns / kNsPerS);
  out.add("rdb_last_bgsave_status", server.persistence().checkpoints.last_ok() ? "ok" : "err");
  out.add("rdb_last_bgsave_time_sec", -1);
  out.add("rdb_current_bgsave_time_sec", -1);
  out.add("rdb_saves", server.persistence().checkpoints.made());
  out.add_zeros({"rdb_last_cow_size", "rdb_last_load_keys_expired", "rdb_last_load_keys_loaded"});
  out.add("aof_enabled", logs ? 1 : 0);
  out.add("aof_rewrite_in_progress", 0);
  out.add("aof_rewrite_scheduled", 0);
  out.add("aof_last_bgrewrite_status", "ok");
  out.add("aof_last_write_status", server.keys().store_in_use().failed() ? "err" : "ok");
  out.add("aof_last_rewrite_time_sec", -1);
  out.add("aof_current_rewrite_time_sec", -1);
  out.add_zeros({"aof_rewrites", "aof_rewrites_consecutive_failures", "aof_last_cow_size",
                 "module_fork_in_progress", "module_fork_last_cow_size"});
}

void info_stats(Server& server, InfoWriter& out) {
  const Stats& stats = server.report().stats;
  out.add("total_connections_received", stats.connections);
  out.add("total_commands_processed", stats.commands);
  out.add_fixed("instantaneous_ops_per_sec", server.report().command_rate.per_second(), 0);
  out.add("total_net_input_bytes", stats.bytes_in);
  out.add("total_net_output_bytes", stats.bytes_out);
  out.add_fixed("instantaneous_input_kbps", server.report().input_rate.per_second() / 1024, 2);
  out.add_fixed("instantaneous_output_kbps", server.report().output_rate.per_second() / 1024, 2);
  out.add_zeros({"total_net_repl_input_bytes", "total_net_repl_output_bytes",
                 "instantaneous_input_repl_kbps", "instantaneous_output_repl_kbps"});
  out.add("rejected_connections", stats.connections_rejected);
  out.add_zeros({"sync_full", "sync_partial_ok", "sync_partial_err"});
  out.add("expired_keys", server.keys().figures().expired - stats.expired_before);
  out.add_fixed("expired_stale_perc", 0, 2);
  out.add_zeros({"expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds"});
  out.add("evicted_keys", 0);
  out.add("evicted_clients", server.sessions().bounds().evicted());
  out.add_zeros({"total_eviction_exceeded_time", "current_eviction_exceeded_time"});
  out.add("internal_errors", server.report().stats.internal_errors);
  out.add("keyspace_hits", stats.keyspace_hits);
  out.add("keyspace_misses", stats.keyspace_misses);
  out.add("pubsub_channels", server.messages().pubsub().count(SubscriptionKind::kChannel));
  out.add("pubsub_patterns", server.messages().pubsub().count(SubscriptionKind::kPattern));
  out.add("pubsubshard_channels", server.messages().pubsub().count(SubscriptionKind::kShard));
  out.add_zeros({"latest_fork_usec", "total_forks", "migrate_cached_sockets",
                 "slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses",
                 "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time",
                 "current_active_defrag_time"});
  out.add("tracking_total_keys", server.messages().tracking().keys());
  out.add("tracking_total_items", server.messages().tracking().items());
  out.add("tracking_total_prefixes", server.messages().tracking().prefixes());
  out.add("unexpected_error_replies", 0);
  out.add("total_error_replies", stats.error_replies);
  out.add("dump_payload_sanitizations", 0);
  out.add("total_reads_processed", stats.reads);
  out.add("total_writes_processed", stats.writes);
  out.add_zeros({"io_threaded_reads_processed", "io_threaded_writes_processed",
                 "reply_buffer_shrinks", "reply_buffer_expands"});
  const acl::Denials& denials = server.acl().denials();
  out.add("acl_access_denied_auth", denials.count(acl::Reason::kAuth));
  out.add("acl_access_denied_cmd", denials.count(acl::Reason::kCommand));
  out.add("acl_access_denied_key", denials.count(acl::Reason::kKey));
  out.add("acl_access_denied_channel", denials.count(acl::Reason::kChannel));
}

void info_replication(Server& server, InfoWriter& out) {
  out.add("role", "master");
  out.add("connected_slaves", 0);
  out.add("master_failover_state", "no-failover");
  out.add("master_replid", server.report().run_id);
  out.add("master_replid2", std::string(40, '0'));
  out.add("master_repl_offset", 0);
  out.add("second_repl_offset", -1);
  out.add("repl_backlog_active", 0);
  out.add("repl_backlog_size", 0);
  out.add("repl_backlog_first_byte_offset", 0);
  out.add("repl_backlog_histlen", 0);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void info_cpu(Server&, InfoWriter& out) {
  rusage process{};
  rusage loop{};
  getrusage(RUSAGE_SELF, &process);
  getrusage(RUSAGE_THREAD, &loop);
  out.add_fixed("used_cpu_sys", seconds(process.ru_stime), 6);
  out.add_fixed("used_cpu_user", seconds(process.ru_utime), 6);
  out.add_fixed("used_cpu_sys_children", 0, 6);
  out.add_fixed("used_cpu_user_children", 0, 6);
  out.add_fixed("used_cpu_sys_main_thread", seconds(loop.ru_stime), 6);
  out.add_fixed("used_cpu_user_main_thread", seconds(loop.ru_utime), 6);
}

void info_modules(Server&, InfoWriter&) {}

void info_cluster(Server&, InfoWriter& out) { out.add("cluster_enabled", 0); }

constexpr InfoSection kSections[] = {
    {"server", "Server", true, info_server},
    {"clients", "Clients", true, info_clients},
    {"memory", "Memory", true, info_memory},
    {"persistence", "Persistence", true, info_persistence},
    {"stats", "Stats", true, info_stats},
    {"replication", "Replication", true, info_replication},
    {"cpu", "CPU", true, info_cpu},
    {"modules", "Modules", true, info_modules},
    {"commandstats", "Commandstats", false, info_commandstats},
    {"errorstats", "Errorstats", true, info_errorstats},
    {"latencystats", "Latencystats", false, info_latencystats},
    {"weir", "Weir", true, info_weir},
    {"limiter", "Limiter", true, info_limiter},
    {"storage", "Storage", true, info_storage},
    {"cluster", "Cluster", true, info_cluster},
    {"keyspace", "Keyspace", true, info_keyspace},
};

bool is_wanted(const InfoSection& section, Args wanted) {
  if (wanted.empty()) return section.by_default;
  return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view word) {
    using resp::equals_ignoring_case;
    if (equals_ignoring_case(word, "all") || equals_ignoring_case(word, "everything")) return true;
    if (equals_ignoring_case(word, "default")) return section.by_default;
    return equals_ignoring_case(word, section.name);
  });
}

}  // namespace

void InfoWriter::heading(std::string_view title) {
  if (!text_.empty()) text_.append("\r\n");
  text_.append("# ").append(title).append("\r\n");
}

void InfoWriter::add(std::string_view name, std::string_view value) {
  text_.append(name).append(":").append(value).append("\r\n");
}

void InfoWriter::add_fixed(std::string_view name, double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  add(name, std::string_view(text));
}

void InfoWriter::add_bytes(std::string_view name, int64_t bytes) {
  add(name, bytes);
  add(std::string(name) + "_human", human(bytes));
}

std::span<const InfoSection> info_sections() { return kSections; }

std::string info_text(Server& server, Args wanted) {
  InfoWriter out;
  for (const InfoSection& section : kSections) {
    if (!is_wanted(section, wanted)) continue;
    out.heading(section.title);
    section.write(server, out);
  }
  return out.take();
}

}  // namespace weir::server
