// The metrics of a server: INFO shows them as it always did, and another writer can show them too.
#include "server/report/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "server/core/metrics/metric_sections.h"
#include "server/report/info_text.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

// What INFO names in its sections, in this order. Monitoring knows these names.
constexpr std::pair<std::string_view, std::string_view> kInfoNames[] = {
    {"Server",
     "redis_version redis_git_sha1 redis_git_dirty redis_build_id weir_version redis_mode os "
     "arch_bits monotonic_clock multiplexing_api gcc_version process_id process_supervised "
     "run_id tcp_port server_time_usec uptime_in_seconds uptime_in_days hz configured_hz "
     "lru_clock executable config_file io_threads_active"},
    {"Clients",
     "connected_clients metrics_clients cluster_connections maxclients "
     "client_recent_max_input_buffer "
     "client_recent_max_output_buffer blocked_clients wait_queues wait_queue_longest "
     "tracking_clients clients_in_timeout_table"},
    {"Memory",
     "used_memory used_memory_human used_memory_rss used_memory_rss_human used_memory_peak "
     "used_memory_peak_human used_memory_peak_perc used_memory_rss_peak "
     "used_memory_rss_peak_human used_memory_overhead used_memory_startup used_memory_dataset "
     "used_memory_dataset_perc total_system_memory total_system_memory_human used_memory_lua "
     "used_memory_lua_human used_memory_vm_eval used_memory_scripts_eval "
     "number_of_cached_scripts number_of_functions number_of_libraries used_memory_vm_functions "
     "used_memory_vm_total used_memory_vm_total_human used_memory_functions used_memory_scripts "
     "used_memory_scripts_human evicted_scripts maxmemory maxmemory_human maxmemory_policy "
     "mem_fragmentation_ratio mem_fragmentation_bytes allocator_allocated allocator_active "
     "allocator_resident allocator_frag_ratio allocator_frag_bytes allocator_rss_ratio "
     "allocator_rss_bytes rss_overhead_ratio rss_overhead_bytes mem_not_counted_for_evict "
     "mem_replication_backlog mem_total_replication_buffers mem_cluster_links mem_clients_slaves "
     "mem_clients_normal mem_tracking_table mem_store_memtables mem_store_log_queue "
     "mem_store_block_cache mem_store_table_readers mem_unnamed mem_free_resident mem_program "
     "mem_aof_buffer mem_allocator active_defrag_running lazyfree_pending_objects"},
    {"Persistence",
     "loading async_loading current_cow_peak current_cow_size current_cow_size_age "
     "current_fork_perc current_save_keys_processed current_save_keys_total "
     "rdb_changes_since_last_save rdb_bgsave_in_progress rdb_last_save_time "
     "rdb_last_bgsave_status rdb_last_bgsave_time_sec rdb_current_bgsave_time_sec rdb_saves "
     "rdb_saves_failed newest_checkpoint_time "
     "rdb_last_cow_size rdb_last_load_keys_expired rdb_last_load_keys_loaded aof_enabled "
     "aof_rewrite_in_progress aof_rewrite_scheduled aof_last_bgrewrite_status "
     "aof_last_write_status aof_last_rewrite_time_sec aof_current_rewrite_time_sec aof_rewrites "
     "aof_rewrites_consecutive_failures aof_last_cow_size module_fork_in_progress "
     "module_fork_last_cow_size"},
    {"Stats",
     "total_connections_received total_commands_processed instantaneous_ops_per_sec "
     "total_net_input_bytes total_net_output_bytes instantaneous_input_kbps "
     "instantaneous_output_kbps total_net_repl_input_bytes total_net_repl_output_bytes "
     "instantaneous_input_repl_kbps instantaneous_output_repl_kbps rejected_connections "
     "sync_full sync_partial_ok sync_partial_err expired_keys expired_stale_perc "
     "expired_time_cap_reached_count expire_cycle_cpu_milliseconds evicted_keys evicted_clients "
     "total_eviction_exceeded_time current_eviction_exceeded_time internal_errors keyspace_hits "
     "keyspace_misses pubsub_channels pubsub_patterns pubsubshard_channels latest_fork_usec "
     "total_forks migrate_cached_sockets slave_expires_tracked_keys active_defrag_hits "
     "active_defrag_misses active_defrag_key_hits active_defrag_key_misses "
     "total_active_defrag_time current_active_defrag_time tracking_total_keys "
     "tracking_total_items tracking_total_prefixes unexpected_error_replies total_error_replies "
     "dump_payload_sanitizations total_reads_processed total_writes_processed "
     "io_threaded_reads_processed io_threaded_writes_processed reply_buffer_shrinks "
     "reply_buffer_expands acl_access_denied_auth acl_access_denied_cmd acl_access_denied_key "
     "acl_access_denied_channel acl_access_denied_limits"},
    {"Replication",
     "role connected_slaves master_failover_state master_replid master_replid2 "
     "master_repl_offset second_repl_offset repl_backlog_active repl_backlog_size "
     "repl_backlog_first_byte_offset repl_backlog_histlen"},
    {"CPU",
     "used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children "
     "used_cpu_sys_main_thread used_cpu_user_main_thread"},
    {"Weir",
     "weir_version storage durability storage_failure_policy turns_run turns_committed "
     "turns_failed turn_us_mean turn_us_max commit_us_mean commit_us_max loop_held "
     "loop_held_ms loop_held_last loop_held_last_ms loop_held_longest loop_held_longest_ms "
     "clock_lead_ms clock_accepted_ms cross_slot_refusals would_cross_slots clock_differs "
     "http_requests http_requests_failed gate_errors grpc_requests grpc_requests_failed "
     "rls_over_limit rls_descriptors_unruled "
     "tls_handshakes tls_handshakes_resumed tls_handshakes_failed tls_handshakes_pending "
     "otlp_metrics otlp_spans otlp_error otlp_exports otlp_exports_failed otlp_spans_exported "
     "otlp_spans_dropped"},
    {"Limiter",
     "verdicts allowed denied banned shadow_allowed shadow_denied repeated_ids bans "
     "limiting"},
    {"Storage",
     "storage_status storage_error turn written_back_turn unwritten_entries write_back_running "
     "behind unsynced_age_ms log_bytes_appended working_set_entries working_set_bytes cold_reads "
     "evicted_entries last_sync_age_ms syncs log_bytes state_bytes state_records_estimate "
     "records_dropped_by_compaction write_backs write_stalls compactions "
     "compactions_running compaction_us compaction_bytes compaction_pending_bytes unmerged_files "
     "merge_waits merge_wait_us last_checkpoint"},
    {"Cluster", "cluster_enabled"},
};

// A server of which something is counted in every section.
class ServerMetrics : public ::testing::Test {
 protected:
  ServerMetrics() {
    client_->call({"SET", "key", "1", "EX", "100"});
    client_->call({"LPUSH", "key", "1"});
    client_->call({"GET", "nothing"});
    client_->call({"CL.THROTTLE", "limit", "5", "10", "60"});
  }

  std::string info(std::string_view section) {
    const std::string text = client_->call({"INFO", section});
    return text.substr(text.find("\r\n") + 2);
  }

  std::map<std::string, std::string> memory() {
    std::map<std::string, std::string> metrics;
    std::istringstream lines(info("memory"));
    for (std::string line; std::getline(lines, line);) {
      if (const size_t end = line.find(':'); end != std::string::npos)
        metrics[line.substr(0, end)] = line.substr(end + 1);
    }
    return metrics;
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(ServerMetrics, InfoNamesTheSameAsEver) {
  for (const auto& [section, names] : kInfoNames) {
    std::istringstream lines(info(section));
    std::string line;
    std::string seen;
    while (std::getline(lines, line)) {
      if (const size_t end = line.find(':'); end != std::string::npos)
        seen += (seen.empty() ? "" : " ") + line.substr(0, end);
    }
    EXPECT_EQ(seen, names) << section;
  }
}

// As with Redis, parts and wholes of memory agree, whoever tells them.
TEST_F(ServerMetrics, OfMemoryAddUp) {
  const std::map<std::string, std::string> metrics = memory();
  const auto number = [&](const std::string& name) { return std::stoll(metrics.at(name)); };
  EXPECT_GT(number("used_memory_overhead"), 0);
  EXPECT_EQ(number("used_memory"), number("used_memory_overhead") + number("used_memory_dataset"));
  EXPECT_LT(std::stod(metrics.at("used_memory_dataset_perc")), 100);
  EXPECT_GT(number("rss_overhead_bytes"), 0);
  EXPECT_EQ(number("used_memory_rss"), number("rss_overhead_bytes") + number("allocator_resident"));
  if (number("allocator_resident") > 0) {  // a sanitizer's allocator tells nothing
    EXPECT_GT(std::stod(metrics.at("rss_overhead_ratio")), 1);
  }
  EXPECT_EQ(number("allocator_rss_bytes"),
            number("allocator_resident") - number("allocator_active"));
  EXPECT_NE(
      client_->call({"MEMORY", "STATS"})
          .find(bulk("overhead.total") + ":" + std::to_string(number("used_memory_overhead"))),
      std::string::npos);
}

// The lines of which the resident size consists.
constexpr std::string_view kMemoryParts[] = {
    "used_memory",          "mem_clients_normal",    "mem_tracking_table",
    "used_memory_vm_total", "used_memory_scripts",   "mem_store_memtables",
    "mem_store_log_queue",  "mem_store_block_cache", "mem_store_table_readers",
    "mem_unnamed",          "mem_free_resident",     "mem_program"};

TEST_F(ServerMetrics, PartsOfMemoryAreNoMoreThanTheProcessHas) {
  const std::map<std::string, std::string> metrics = memory();
  int64_t sum = 0;
  for (const std::string_view part : kMemoryParts) {
    const int64_t bytes = std::stoll(metrics.at(std::string(part)));
    EXPECT_GE(bytes, 0) << part;
    sum += bytes;
  }
  const int64_t resident = std::stoll(metrics.at("used_memory_rss"));
  EXPECT_LE(sum, resident);
  EXPECT_GT(sum, resident * 9 / 10);
  EXPECT_GT(std::stoll(metrics.at("mem_program")), kMb);
}

TEST_F(ServerMetrics, PartsOfMemoryGrowByWhatTheyName) {
  std::map<std::string, std::string> before = memory();
  const auto growth = [&](const std::string& part) {
    return std::stoll(memory().at(part)) - std::stoll(before.at(part));
  };
  const std::string large(1 << 20, 'x');
  client_->call({"SET", "large", large});
  EXPECT_GE(growth("used_memory"), kMb);
  client_->call({"EVAL", "x = nil; return '" + large + "'", "0"});
  EXPECT_GE(growth("used_memory_scripts"), kMb);
  EXPECT_GE(growth("used_memory_vm_total"), kMb);
  const auto queuing = server_.connect();
  queuing->call({"MULTI"});
  queuing->call({"SET", "large", large});
  EXPECT_GE(growth("mem_clients_normal"), kMb);
}

TEST_F(ServerMetrics, InfoShowsRowsOfCommandsErrorsAndDatabases) {
  EXPECT_NE(info("commandstats")
                .find("cmdstat_lpush:calls=1,usec=0,usec_per_call=0.00,"
                      "rejected_calls=0,failed_calls=1\r\n"),
            std::string::npos);
  EXPECT_NE(info("latencystats").find("\r\nlatency_percentiles_usec_get:p50="), std::string::npos);
  EXPECT_NE(info("latencystats").find(",p99.9="), std::string::npos);
  EXPECT_EQ(info("errorstats"), "# Errorstats\r\nerrorstat_WRONGTYPE:count=1\r\n\r\n");
  EXPECT_NE(info("keyspace").find("# Keyspace\r\ndb0:keys=2,expires="), std::string::npos);
}

// As with Redis, an error is counted once, where it comes up; a script that ends with it has failed
// as well.
TEST_F(ServerMetrics, ErrorsOfCommandsInScriptsCountForTheCommand) {
  client_->call({"CONFIG", "RESETSTAT"});
  client_->call({"EVAL", "return redis.call('lpush', 'key', 1)", "0"});
  client_->call({"EVAL", "return redis.pcall('lpush', 'key', 1)", "0"});
  client_->call({"EVAL", "redis.pcall('lpush', 'key', 1) return 1", "0"});
  client_->call({"EVAL", "redis.pcall('get') redis.pcall('nosuch') return 1", "0"});
  client_->call({"EVAL", "redis.pcall('lpush', 'key', 1) return {err = 'OWN error'}", "0"});
  client_->call({"EVAL", "error('own')", "0"});
  EXPECT_EQ(info("errorstats"),
            "# Errorstats\r\nerrorstat_ERR:count=3\r\nerrorstat_OWN:count=1\r\n"
            "errorstat_WRONGTYPE:count=4\r\n\r\n");
  EXPECT_NE(info("stats").find("total_error_replies:8\r\n"), std::string::npos);
  const std::string commands = info("commandstats");
  EXPECT_NE(commands.find("cmdstat_lpush:calls=4,usec=0,usec_per_call=0.00,rejected_calls=0,"
                          "failed_calls=4\r\n"),
            std::string::npos)
      << commands;
  EXPECT_NE(commands.find("cmdstat_get:calls=0,usec=0,usec_per_call=0.00,rejected_calls=1,"),
            std::string::npos)
      << commands;
  EXPECT_NE(commands.find("cmdstat_eval:calls=6,usec=0,usec_per_call=0.00,rejected_calls=0,"
                          "failed_calls=4\r\n"),
            std::string::npos)
      << commands;
}

TEST_F(ServerMetrics, ResettingThemCountsItself) {
  for (int i = 0; i < 3; ++i) client_->call({"CONFIG", "RESETSTAT"});
  EXPECT_NE(info("commandstats").find("cmdstat_config|resetstat:calls=1,"), std::string::npos);
}

TEST(InfoText, ShowsMemoryTwiceAndPercentsWithTheirSign) {
  InfoText out;
  out.gauge({"memory", "Some.", MetricUnit::kMemory}, 1536);
  out.gauge({"share", "Some.", MetricUnit::kPercent}, 12.345, 1);
  out.absent({"nothing"});
  EXPECT_EQ(out.take(), "memory:1536\r\nmemory_human:1.50K\r\nshare:12.3%\r\nnothing:0\r\n");
}

// Writes metrics as Prometheus reads them, and says where a metric breaks metrics.h's promises.
class PrometheusWriter final : public MetricWriter {
 public:
  std::string text;
  std::vector<std::string> complaints;
  size_t numbers = 0;

 private:
  void write(const Metric& metric) override {
    const auto& [name, help, unit] = metric.name;
    const std::string full = (table_.empty() ? "" : table_ + "_") + std::string(name);
    if (help.empty() || help.back() != '.') complaints.push_back(full + " has no help");
    if (full.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos)
      complaints.push_back(full + " is no name");
    if (metric.kind == MetricKind::kText) return;
    ++numbers;
    if (!seen_.insert({full, member_}).second) complaints.push_back(full + " is there twice");
    const std::string kind = metric.kind == MetricKind::kCounter ? "counter" : "gauge";
    if (const auto known = kinds_.emplace(full, kind); known.second) {
      text += "# HELP weir_" + full + " " + std::string(help) + "\n";
      text += "# TYPE weir_" + full + " " + kind + "\n";
    } else if (known.first->second != kind) {
      complaints.push_back(full + " has two kinds");
    }
    char* end = nullptr;
    const std::string value(metric.value);
    (void)std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') complaints.push_back(full + " is no number: " + value);
    text += "weir_" + full + label_ + " " + value + "\n";
  }
  void write_absent(std::string_view, std::string_view) override {}
  void begin_row(const MetricTable& table, std::string_view member) override {
    table_ = table.name;
    member_ = member;
    label_ = "{" + table_ + "=\"" + member_ + "\"}";
  }
  void end_row() override { table_ = member_ = label_ = ""; }

  std::string table_;
  std::string member_;
  std::string label_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<std::string, std::string> kinds_;
};

TEST_F(ServerMetrics, EveryNumberHasAKindAHelpLineAndANameOfItsOwn) {
  PrometheusWriter out;
  for (const MetricSection& section : metric_sections()) section.write(*server_, out);
  EXPECT_TRUE(out.complaints.empty()) << out.complaints.front();
  EXPECT_GT(out.numbers, 100u);
  EXPECT_NE(out.text.find("# HELP weir_total_commands_processed Commands that were run or "
                          "refused.\n# TYPE weir_total_commands_processed counter\n"
                          "weir_total_commands_processed 4\n"),
            std::string::npos);
  EXPECT_NE(out.text.find("weir_command_calls{command=\"lpush\"} 1\n"), std::string::npos);
  EXPECT_NE(out.text.find("weir_database_keys{database=\"0\"} 2\n"), std::string::npos);
}

}  // namespace
}  // namespace weir::server
