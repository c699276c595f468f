// The metrics of turns and of what is on disk.
#include <algorithm>

#include "base/time_units.h"
#include "server/config/config_options.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/cluster.h"
#include "server/core/run/server.h"
#include "server/report/report_metrics.h"
#include "server/tls/tls_context.h"

namespace weir::server {
namespace {

constexpr MetricUnit kMilliseconds = MetricUnit::kMilliseconds;

std::string option_text(Server& server, std::string_view name) {
  return value_text(*find_option(name), server.config());
}

// Answers how long ago the last sync that has ended began; -1: none has ended yet.
int64_t last_sync_age_ms(Server& server) {
  const int64_t begin_ns = server.keys().store_in_use()->sync_state().last_begin_steady_ns;
  if (begin_ns == 0) return -1;
  return (server.clock().steady_ns() - begin_ns) / kNsPerMs;
}

void write_background(const storage::StoreMetrics& metrics, MetricWriter& out) {
  constexpr MetricUnit kMicroseconds = MetricUnit::kMicroseconds;
  out.counter({"write_stalls", "Times that the store slowed writing down, or stopped it."},
              metrics.write_stalls);
  out.counter({"compactions", "Compactions of the state that have ended."}, metrics.compactions);
  out.gauge({"compactions_running", "Compactions that run."}, metrics.compactions_running);
  out.counter({"compaction_us", "Time of compactions, all threads together.", kMicroseconds},
              metrics.compaction_us);
  out.counter({"compaction_bytes", "Bytes that compactions have written.", kByteMetric},
              metrics.compaction_bytes);
  out.gauge({"compaction_pending_bytes", "Bytes that are to be compacted, about.", kByteMetric},
            metrics.compaction_pending_bytes);
  out.gauge({"unmerged_files", "Files of the state that every read may have to look into."},
            metrics.unmerged_files);
  out.counter({"merge_waits", "Write-backs that waited for fewer of these files."},
              metrics.merge_waits);
  out.counter({"merge_wait_us", "How long they waited.", kMicroseconds}, metrics.merge_wait_us);
  if (metrics.disk_bytes == 0) return;
  out.gauge({"disk_bytes", "Size of the disk that has the data.", kByteMetric}, metrics.disk_bytes);
  out.gauge({"disk_free_bytes", "Bytes of it that are free for this server.", kByteMetric},
            metrics.disk_free_bytes);
}

void write_store(Server& server, MetricWriter& out) {
  if (!server.keys().store_in_use().is_open()) return;
  const storage::StoreMetrics metrics = server.keys().store_in_use()->metrics();
  out.gauge({"last_sync_age_ms", "Age of the last sync of the log; -1: none.", kMilliseconds},
            last_sync_age_ms(server));
  out.counter({"syncs", "Syncs of the log."}, metrics.syncs);
  out.gauge({"log_bytes", "Bytes of the log on disk.", kByteMetric}, metrics.log_bytes);
  out.gauge({"state_bytes", "Bytes of the state on disk.", kByteMetric}, metrics.state_bytes);
  out.gauge({"state_records_estimate", "Records of the state, about."},
            metrics.state_records_estimate);
  out.counter({"records_dropped_by_compaction", "Expired records that compactions dropped."},
              metrics.records_dropped);
  out.counter({"write_backs", "Write-backs of what has changed into the state."},
              metrics.write_backs);
  write_background(metrics, out);
  out.text({"last_checkpoint", "Name of the last checkpoint since the start; empty: none."},
           server.persistence().checkpoints.last_name());
}

// A standby's instants are those of the records that come: between two of them the wall clock goes
// on, which says nothing of clocks.
int64_t clock_lead_ns(Server& server) {
  const int64_t lead_ns = server.timeline().lead_ns();
  return server.shard_role().serves() ? lead_ns : std::max<int64_t>(lead_ns, 0);
}

}  // namespace

void write_persistence_section(Server& server, MetricWriter& out) {
  Checkpoints& checkpoints = server.persistence().checkpoints;
  const bool logs = keeps_files(server.config().storage);
  const int64_t saved_s = checkpoints.last_s();
  out.absent({"loading", "async_loading", "current_cow_peak", "current_cow_size",
              "current_cow_size_age", "current_fork_perc", "current_save_keys_processed",
              "current_save_keys_total"});
  out.gauge({"rdb_changes_since_last_save", "Turns since the last checkpoint."},
            server.keys().turn() - checkpoints.last_turn());
  out.gauge({"rdb_bgsave_in_progress", "1: a checkpoint is asked for or being made."},
            checkpoints.pending() ? 1 : 0);
  out.gauge({"rdb_last_save_time", "Unix time of the last checkpoint, or of the start.",
             MetricUnit::kSeconds},
            saved_s != 0 ? saved_s : server.report().started_wall_ns / kNsPerS);
  out.text({"rdb_last_bgsave_status", "How the last checkpoint ended."},
           checkpoints.last_ok() ? "ok" : "err");
  out.absent("rdb_last_bgsave_time_sec", "-1");
  out.absent("rdb_current_bgsave_time_sec", "-1");
  out.counter({"rdb_saves", "Checkpoints that were made."}, checkpoints.made());
  out.counter({"rdb_saves_failed", "Checkpoints that could not be made."}, checkpoints.failed());
  out.gauge({"newest_checkpoint_time", "Unix time of the newest checkpoint in dir; 0: none.",
             MetricUnit::kSeconds},
            checkpoints.newest_s());
  out.absent({"rdb_last_cow_size", "rdb_last_load_keys_expired", "rdb_last_load_keys_loaded"});
  out.gauge({"aof_enabled", "1: what changes is logged."}, logs ? 1 : 0);
  out.absent({"aof_rewrite_in_progress", "aof_rewrite_scheduled"});
  out.absent("aof_last_bgrewrite_status", "ok");
  out.text({"aof_last_write_status", "Whether the store takes what is written."},
           server.keys().store_in_use().failed() ? "err" : "ok");
  out.absent("aof_last_rewrite_time_sec", "-1");
  out.absent("aof_current_rewrite_time_sec", "-1");
  out.absent({"aof_rewrites", "aof_rewrites_consecutive_failures", "aof_last_cow_size",
              "module_fork_in_progress", "module_fork_last_cow_size"});
}

void write_weir_section(Server& server, MetricWriter& out) {
  out.text({"weir_version", "The version of weir."}, weir_version());
  out.text({"storage", "Where the state is kept."}, option_text(server, "storage"));
  out.text({"durability", "When the log is synced."}, option_text(server, "durability"));
  out.text({"storage_failure_policy", "What a failure of the disk does."},
           option_text(server, "storage-failure-policy"));
  write_turn_metrics(server.report(), out);
  write_loop_metrics(server.report(), out);
  out.gauge({"clock_lead_ms",
             "How far instants are ahead of the wall clock since WEIR CLOCK RESET or ever.",
             kMilliseconds},
            clock_lead_ns(server) / kNsPerMs);
  out.gauge({"clock_accepted_ms", "What WEIR CLOCK RESET took for granted.", kMilliseconds},
            server.timeline().accepted_ns() / kNsPerMs);
  out.counter({"cross_slot_refusals", "Requests refused because their keys are in several slots."},
              server.executor().cluster().cross_slot_refusals());
  out.counter({"would_cross_slots",
               "Requests served that name keys of several slots, which a cluster would refuse."},
              server.executor().cluster().would_cross_slots());
  out.gauge({"clock_differs", "Whether that lead is more than a second: see docs/clock.md."},
            server.persistence().clock_keeper.differs() ? 1 : 0);
  out.counter({"http_requests", "Requests of http-port and http-tls-port."},
              server.report().stats.http_requests);
  out.counter({"http_requests_failed", "Those of them answered a status of 500 or above."},
              server.report().stats.http_failed);
  out.counter({"gate_errors", "Questions to the gate that got no verdict."},
              server.report().stats.gate_errors);
  out.counter({"grpc_requests", "Calls of grpc-port and grpc-tls-port."},
              server.report().stats.grpc_requests);
  out.counter({"grpc_requests_failed", "Those of them answered another status than OK."},
              server.report().stats.grpc_failed);
  out.counter({"rls_over_limit", "Requests of Envoy's rate limit service answered OVER_LIMIT."},
              server.report().stats.rls_over_limit);
  out.counter({"rls_descriptors_unruled", "Descriptors let through because no rule is for them."},
              server.report().stats.rls_unruled);
  const TlsMetrics& tls = server.sessions().tls().metrics;
  out.counter({"tls_handshakes", "Handshakes of TLS that have succeeded."}, tls.handshakes);
  out.counter({"tls_handshakes_resumed", "Those of them that resumed a session."}, tls.resumed);
  out.counter({"tls_handshakes_failed", "Handshakes of TLS that have failed."}, tls.failed);
  out.gauge({"tls_handshakes_pending", "Handshakes of TLS that are not over."}, tls.pending);
  write_export_metrics(server.report(), out);
  if (const auto& context = server.sessions().tls().context(); context != nullptr) {
    out.gauge({"tls_certificate_not_after", "Unix time of the end of tls-cert-file.",
               MetricUnit::kSeconds},
              context->not_after_s());
  }
}

void write_storage_section(Server& server, MetricWriter& out) {
  storage::Keyspace& keys = server.keys();
  const storage::KeyspaceMetrics metrics = keys.metrics();
  const bool failed = keys.store_in_use().failed();
  out.text({"storage_status", "Whether the store works."}, failed ? "failed" : "ok");
  out.text({"storage_error", "What is wrong with the store."},
           failed ? server.persistence().health.failure().message() : "");
  out.counter({"turn", "The number of the newest turn."}, metrics.turn);
  out.counter({"written_back_turn", "The newest turn that is wholly in the state."},
              metrics.written_back_turn);
  out.gauge({"unwritten_entries", "Entries that are newer than the state."}, metrics.unwritten);
  out.gauge({"write_back_running", "1: a write-back is running."},
            keys.work().writing_back() ? 1 : 0);
  out.gauge({"behind", "1: commands that write wait until write-back has caught up."},
            keys.work().overloaded() ? 1 : 0);
  out.gauge({"unsynced_age_ms", "How long the oldest change has waited for a sync.", kMilliseconds},
            server.persistence().durability->unsynced_ns(server.clock().steady_ns()) / kNsPerMs);
  out.counter({"log_bytes_appended", "Bytes appended to the log.", kByteMetric},
              metrics.log_bytes_appended);
  out.gauge({"working_set_entries", "Entries in memory."}, metrics.entries);
  out.gauge({"working_set_bytes", "Bytes of the entries in memory.", kByteMetric}, metrics.bytes);
  out.counter({"cold_reads", "Look-ups that had to read the state."}, metrics.misses);
  out.counter({"evicted_entries", "Clean entries that were given up."},
              metrics.evicted - server.report().stats.evicted_before);
  write_store(server, out);
}

}  // namespace weir::server
