// What is weir's own in INFO: turns, verdicts, and how far the disk is behind.
#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/config/config_options.h"
#include "server/core/info.h"
#include "server/core/server.h"

namespace weir::server {
namespace {

std::string option_text(Server& server, std::string_view name) {
  return value_text(*find_option(name), server.config());
}

// -1: no sync has ended yet.
int64_t last_sync_age_ms(Server& server) {
  const auto begin = server.keys().store_in_use()->sync_state().last_begin.time_since_epoch();
  const int64_t begin_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(begin).count();
  if (begin_ns == 0) return -1;
  return (server.clock().steady_ns() - begin_ns) / kNsPerMs;
}

void add_store(Server& server, InfoWriter& out) {
  if (!server.keys().store_in_use().is_open()) return;
  const storage::StoreFigures figures = server.keys().store_in_use()->figures();
  out.add("last_sync_age_ms", last_sync_age_ms(server));
  out.add("syncs", figures.syncs);
  out.add("log_bytes", figures.log_bytes);
  out.add("state_bytes", figures.state_bytes);
  out.add("state_records_estimate", figures.state_records_estimate);
  out.add("records_dropped_by_compaction", figures.records_dropped);
  out.add("write_back_passes", figures.passes);
}

}  // namespace

void info_weir(Server& server, InfoWriter& out) {
  const Stats& stats = server.report().stats;
  out.add("weir_version", kWeirVersion);
  for (const char* name : {"storage", "durability", "storage-failure-policy"}) {
    std::string field(name);
    std::replace(field.begin(), field.end(), '-', '_');
    out.add(field, option_text(server, name));
  }
  out.add("turns_run", stats.turns_run);
  out.add("turns_committed", stats.turns);
  out.add("turns_failed", stats.turns_failed);
  const int64_t runs = static_cast<int64_t>(std::max<uint64_t>(stats.turns_run, 1));
  const int64_t commits = static_cast<int64_t>(std::max<uint64_t>(stats.turns, 1));
  out.add("turn_us_mean", stats.turn_ns / runs / kNsPerUs);
  out.add("turn_us_max", stats.turn_ns_max / kNsPerUs);
  out.add("commit_us_mean", stats.commit_ns / commits / kNsPerUs);
  out.add("commit_us_max", stats.commit_ns_max / kNsPerUs);
  out.add("clock_lead_ms", server.timeline().lead_ns() / kNsPerMs);
}

void info_limiter(Server& server, InfoWriter& out) {
  out.add("verdicts", server.limiters().allowed + server.limiters().denied);
  out.add("allowed", server.limiters().allowed);
  out.add("denied", server.limiters().denied);
}

void info_storage(Server& server, InfoWriter& out) {
  const storage::Keyspace& keys = server.keys();
  const storage::KeyspaceFigures figures = keys.figures();
  out.add("storage_status", keys.store_in_use().failed() ? "failed" : "ok");
  out.add("storage_error",
          keys.store_in_use().failed() ? server.persistence().health.failure().message() : "");
  out.add("turn", figures.turn);
  out.add("written_back_turn", figures.written_back_turn);
  out.add("unwritten_entries", figures.unwritten);
  out.add("write_back_running", keys.work().writing_back() ? 1 : 0);
  out.add("behind", server.keys().work().overloaded() ? 1 : 0);
  out.add("unsynced_age_ms",
          server.persistence().durability.unsynced_ns(server.clock().steady_ns()) / kNsPerMs);
  out.add("log_bytes_appended", figures.log_bytes_appended);
  out.add("working_set_entries", figures.entries);
  out.add("working_set_bytes", figures.bytes);
  out.add("cold_reads", figures.misses);
  out.add("evicted_entries", figures.evicted - server.report().stats.evicted_before);
  add_store(server, out);
}

}  // namespace weir::server
