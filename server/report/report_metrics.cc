#include "server/report/report_metrics.h"

#include <algorithm>

#include "base/time_units.h"

namespace weir::server {

void write_traffic_metrics(const Report& report, MetricWriter& out) {
  const Stats& stats = report.stats;
  out.counter({"total_connections_received", "Connections that were accepted."}, stats.connections);
  out.counter({"total_commands_processed", "Commands that were run or refused."}, stats.commands);
  out.gauge({"instantaneous_ops_per_sec", "Commands in a second, of late."},
            report.command_rate.per_second(), 0);
  out.counter({"total_net_input_bytes", "Bytes read from clients.", MetricUnit::kBytes},
              stats.bytes_in);
  out.counter({"total_net_output_bytes", "Bytes sent to clients.", MetricUnit::kBytes},
              stats.bytes_out);
  out.gauge({"instantaneous_input_kbps", "Kilobytes read in a second, of late."},
            report.input_rate.per_second() / 1024, 2);
  out.gauge({"instantaneous_output_kbps", "Kilobytes sent in a second, of late."},
            report.output_rate.per_second() / 1024, 2);
}

void write_look_up_metrics(const Report& report, MetricWriter& out) {
  const Stats& stats = report.stats;
  out.counter({"internal_errors", "Commands that met a bug and were taken back."},
              stats.internal_errors);
  out.counter({"keyspace_hits", "Look-ups of keys that were there."}, stats.keyspace_hits);
  out.counter({"keyspace_misses", "Look-ups of keys that were not there."}, stats.keyspace_misses);
}

void write_socket_metrics(const Report& report, MetricWriter& out) {
  out.counter({"total_reads_processed", "Reads from sockets."}, report.stats.reads);
  out.counter({"total_writes_processed", "Writes to sockets."}, report.stats.writes);
}

void write_turn_metrics(const Report& report, MetricWriter& out) {
  const Stats& stats = report.stats;
  const auto runs = static_cast<int64_t>(std::max<uint64_t>(stats.turns_run, 1));
  const auto commits = static_cast<int64_t>(std::max<uint64_t>(stats.turns, 1));
  constexpr MetricUnit kMicroseconds = MetricUnit::kMicroseconds;
  out.counter({"turns_run", "Turns in which a client had something to say."}, stats.turns_run);
  out.counter({"turns_committed", "Turns whose changes were committed."}, stats.turns);
  out.counter({"turns_failed", "Turns whose changes could not be committed."}, stats.turns_failed);
  out.gauge({"turn_us_mean", "Mean length of a turn.", kMicroseconds},
            stats.turn_ns / runs / kNsPerUs);
  out.gauge({"turn_us_max", "Length of the longest turn.", kMicroseconds},
            stats.turn_ns_max / kNsPerUs);
  out.gauge({"commit_us_mean", "Mean time of a commit.", kMicroseconds},
            stats.commit_ns / commits / kNsPerUs);
  out.gauge({"commit_us_max", "Time of the longest commit.", kMicroseconds},
            stats.commit_ns_max / kNsPerUs);
}

void write_loop_metrics(const Report& report, MetricWriter& out) {
  const LoopWatch& loop = report.loop;
  constexpr MetricUnit kMilliseconds = MetricUnit::kMilliseconds;
  out.counter({"loop_held", "Phases of the loop that took longer than 10 ms."}, loop.long_phases());
  out.counter({"loop_held_ms", "All of them together.", kMilliseconds}, loop.held_ns() / kNsPerMs);
  out.text({"loop_held_last", "The last of them."}, loop.last().phase);
  out.gauge({"loop_held_last_ms", "How long it took.", kMilliseconds},
            loop.last().duration_ns / kNsPerMs);
  out.text({"loop_held_longest", "The longest of them."}, loop.longest().phase);
  out.gauge({"loop_held_longest_ms", "How long it took.", kMilliseconds},
            loop.longest().duration_ns / kNsPerMs);
}

void write_export_metrics(const Report& report, MetricWriter& out) {
  const ExportStatus& exports = report.exports;
  out.text({"otlp_metrics", "Whether metrics are exported: off, starting, ok or failing."},
           export_state_name(exports.metrics));
  out.text({"otlp_spans", "The same of spans."}, export_state_name(exports.spans));
  out.text({"otlp_error", "Why the last export that failed did."}, exports.error);
  out.counter({"otlp_exports", "Requests of OTLP that a collector has taken."}, exports.requests);
  out.counter({"otlp_exports_failed", "Requests of OTLP that failed."}, exports.failed);
  out.counter({"otlp_spans_exported", "Spans that a collector has taken."}, exports.spans_sent);
  out.counter({"otlp_spans_dropped", "Spans for which there was no room or no collector."},
              report.spans.dropped());
}

void write_error_metrics(const Report& report, MetricWriter& out) {
  for (const auto& [word, count] : report.errors.counts()) {
    out.row(kErrorMetrics, word, [&out, count = count] {
      out.counter({"count", "Errors that began with the word."}, count);
    });
  }
}

}  // namespace weir::server
