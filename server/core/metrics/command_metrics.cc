// The metrics of each command and each database.
#include <algorithm>

#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

// Where a database has no more keys than this, what INFO says of their expiry is exact.
constexpr size_t kSampledKeysMax = 200;

struct ExpirySample {
  size_t seen = 0;
  size_t expiring = 0;
  double ttl_ms = 0;  // the sum of all that expire, which 64 bits might not hold
};

// Looks at keys from a random place on, or at all of them where they are few.
ExpirySample sample_expiry(Server& server, int database) {
  storage::Keyspace& keys = server.keys();
  ExpirySample sample;
  const auto visit = [&](const storage::Seen& seen) {
    ++sample.seen;
    if (seen.expire_at_ms == 0) return;
    ++sample.expiring;
    sample.ttl_ms += static_cast<double>(seen.expire_at_ms - keys.running().now_ms());
  };
  const bool all = keys.size(database) <= kSampledKeysMax;
  uint64_t cursor = all ? 0 : storage::cursor_of(static_cast<storage::KeyOrder>(server.random()));
  do {
    cursor = keys.scan(database, cursor, kSampledKeysMax, visit);
  } while (cursor != 0 && sample.seen < kSampledKeysMax);
  return sample;
}

void write_database(Server& server, int database, MetricWriter& out) {
  const uint64_t count = server.keys().size(database);
  ExpirySample sample;
  if (!server.keys().store_in_use().failed()) sample = sample_expiry(server, database);
  const uint64_t expires = sample.seen == 0 ? 0 : count * sample.expiring / sample.seen;
  const auto mean_ttl_ms =
      sample.expiring == 0
          ? int64_t{0}
          : static_cast<int64_t>(sample.ttl_ms / static_cast<double>(sample.expiring));
  out.row(kDatabaseMetrics, std::to_string(database), [&] {
    out.gauge({"keys", "Keys of the database."}, count);
    out.gauge({"expires", "Keys with an expiry, about."}, expires);
    out.gauge({"avg_ttl", "Their mean time to live, about.", MetricUnit::kMilliseconds},
              mean_ttl_ms);
  });
}

void write_command(const CommandMetrics& metrics, MetricWriter& out) {
  constexpr MetricUnit kMicroseconds = MetricUnit::kMicroseconds;
  const double mean_us =
      metrics.timed == 0 || metrics.calls == 0
          ? 0
          : static_cast<double>(metrics.timed_ns) / kNsPerUs / static_cast<double>(metrics.timed);
  out.counter({"calls", "Runs of the command."}, metrics.calls);
  out.counter({"usec", "Time of all runs, about.", kMicroseconds},
              mean_us * static_cast<double>(metrics.calls), 0);
  out.gauge({"usec_per_call", "Mean time of a run, about.", kMicroseconds}, mean_us, 2);
  out.counter({"rejected_calls", "Requests refused before they ran."}, metrics.rejected);
  out.counter({"failed_calls", "Runs that answered an error."}, metrics.failed);
}

}  // namespace

// Time is measured on the first call of a command and on every 16th after it; the sum is what all
// calls would have taken at that rate.
void write_commandstats_section(Server& server, MetricWriter& out) {
  const CommandTable& table = server.executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    const CommandMetrics& metrics = server.executor().metrics(command);
    if (metrics.calls == 0 && metrics.rejected == 0) continue;
    out.row(kCommandMetrics, command.name, [&] { write_command(metrics, out); });
  }
}

// Writes the percentiles of the calls that were timed.
void write_latencystats_section(Server& server, MetricWriter& out) {
  const CommandTable& table = server.executor().table();
  const auto& percentiles = server.config().latency_tracking_info_percentiles;
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    const DurationHistogram* durations = server.executor().metrics(command).durations.get();
    if (durations == nullptr) continue;
    out.row(kCommandLatencies, command.name, [&] {
      for (const std::string& percentile : percentiles) {
        const double percent = resp::parse_double(percentile).value_or(0);
        const std::string name = "p" + percentile;
        out.gauge({name, "So many percent of the runs took no longer.", MetricUnit::kMicroseconds},
                  static_cast<double>(durations->percentile_ns(percent)) / kNsPerUs, 3);
      }
    });
  }
}

void write_keyspace_section(Server& server, MetricWriter& out) {
  for (int database = 0; database < server.keys().options().databases; ++database) {
    if (server.keys().size(database) > 0) write_database(server, database, out);
  }
  // A sample that could not be read must not cost the client everything else that INFO knows.
  if (!server.keys().failure().ok())
    server.keys().running().begin_command(server.keys().running().now_ns());
}

}  // namespace weir::server
