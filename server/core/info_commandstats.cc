// INFO's figures per command and per database.
#include <algorithm>
#include <cstdio>

#include "resp/numbers.h"
#include "server/core/info.h"
#include "server/core/server.h"

namespace weir::server {
namespace {

// Up to so many keys, what INFO says of their expiry is exact.
constexpr size_t kSampledKeysMax = 200;

struct ExpirySample {
  size_t seen = 0;
  size_t expiring = 0;
  double ttl_ms = 0;  // of all that expire together: more than 64 bits hold
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
  uint64_t cursor = all ? 0 : storage::cursor_of(static_cast<storage::Position>(server.random()));
  do {
    cursor = keys.scan(database, cursor, kSampledKeysMax, visit);
  } while (cursor != 0 && sample.seen < kSampledKeysMax);
  return sample;
}

void add_database(Server& server, int database, InfoWriter& out) {
  const uint64_t count = server.keys().size(database);
  ExpirySample sample;
  if (!server.keys().store_in_use().failed()) sample = sample_expiry(server, database);
  const uint64_t expires = sample.seen == 0 ? 0 : count * sample.expiring / sample.seen;
  const auto mean_ttl_ms =
      sample.expiring == 0
          ? int64_t{0}
          : static_cast<int64_t>(sample.ttl_ms / static_cast<double>(sample.expiring));
  out.add("db" + std::to_string(database), "keys=" + std::to_string(count) +
                                               ",expires=" + std::to_string(expires) +
                                               ",avg_ttl=" + std::to_string(mean_ttl_ms));
}

}  // namespace

// Time is measured on the first call of a command and on every 16th after it; the sum is what all
// calls would have taken at that rate.
void info_commandstats(Server& server, InfoWriter& out) {
  const CommandTable& table = server.executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    const CommandFigures& figures = server.executor().figures(command);
    if (figures.calls == 0 && figures.rejected == 0) continue;
    const double mean_us =
        figures.timed == 0 || figures.calls == 0
            ? 0
            : static_cast<double>(figures.timed_ns) / 1000 / static_cast<double>(figures.timed);
    char text[200];
    std::snprintf(text, sizeof text,
                  "calls=%llu,usec=%.0f,usec_per_call=%.2f,rejected_calls=%llu,failed_calls=%llu",
                  static_cast<unsigned long long>(figures.calls),
                  mean_us * static_cast<double>(figures.calls), mean_us,
                  static_cast<unsigned long long>(figures.rejected),
                  static_cast<unsigned long long>(figures.failed));
    out.add("cmdstat_" + std::string(command.name), std::string_view(text));
  }
}

void info_errorstats(Server& server, InfoWriter& out) {
  for (const auto& [word, count] : server.report().errors.counts())
    out.add("errorstat_" + word, "count=" + std::to_string(count));
}

// Of the calls that were timed, in microseconds.
void info_latencystats(Server& server, InfoWriter& out) {
  const CommandTable& table = server.executor().table();
  const auto& percentiles = server.config().latency_tracking_info_percentiles;
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    const DurationHistogram* durations = server.executor().figures(command).durations.get();
    if (durations == nullptr) continue;
    std::string text;
    for (const std::string& percentile : percentiles) {
      const double percent = resp::parse_double(percentile).value_or(0);
      char field[64];
      std::snprintf(field, sizeof field, "%sp%s=%.3f", text.empty() ? "" : ",", percentile.c_str(),
                    static_cast<double>(durations->percentile_ns(percent)) / 1000);
      text += field;
    }
    out.add("latency_percentiles_usec_" + std::string(command.name), text);
  }
}

void info_keyspace(Server& server, InfoWriter& out) {
  for (int database = 0; database < server.keys().options().databases; ++database) {
    if (server.keys().size(database) > 0) add_database(server, database, out);
  }
  // A sample that could not be read must not cost the reader everything else INFO knows.
  if (!server.keys().failure().ok())
    server.keys().running().begin_command(server.keys().running().now_ns());
}

}  // namespace weir::server
