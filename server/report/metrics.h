// Metrics: what the server counts and measures about itself, each with its name, its kind, its unit
// and one line of help. The folder that owns a metric writes it; a MetricWriter decides how it
// looks (report/info_text.h writes it as INFO does).
//
// Invariants
// 1. No two numbers have one name; the fields of a row are named after their table.
// 2. A counter never falls, except when statistics are reset.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/exemplars.h"

namespace weir::server {

// A histogram as it is shown: durations by bounds, in ascending order.
struct DurationBuckets {
  struct Bucket {
    int64_t bound_ns = 0;
    uint64_t below = 0;  // how many were shorter than the bound
    // One of them that was not shorter than the bound before, if one is known.
    std::optional<Exemplar> exemplar = {};
  };
  std::vector<Bucket> buckets;
  uint64_t total = 0;
  uint64_t sum_ns = 0;
  std::optional<Exemplar> exemplar = {};  // likewise, not shorter than the last bound
};

enum class MetricKind : uint8_t { kCounter, kGauge, kText };

enum class MetricUnit : uint8_t {
  kNone,  // a number of things, or a ratio
  kBytes,
  kMemory,  // bytes that INFO shows a second time for people: 1.50K
  kSeconds,
  kMilliseconds,
  kMicroseconds,
  kPercent,
};

struct MetricName {
  std::string_view name;  // lower case, words joined by '_'
  std::string_view help;  // one sentence
  MetricUnit unit = MetricUnit::kNone;
};

struct Metric {
  MetricName name;
  MetricKind kind = MetricKind::kText;
  std::string_view value;  // the number in decimal, or the words
};

// Answers a share, 0 of nothing.
constexpr double ratio(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Metrics that are there once for each member of a set, such as each command.
struct MetricTable {
  std::string_view name;         // what a member is: "command", "database"
  std::string_view info_prefix;  // what INFO puts before the member's name: "cmdstat_"
};

inline constexpr MetricTable kCommandMetrics{"command", "cmdstat_"};
inline constexpr MetricTable kCommandLatencies{"command_latency", "latency_percentiles_usec_"};
inline constexpr MetricTable kErrorMetrics{"error", "errorstat_"};
inline constexpr MetricTable kDatabaseMetrics{"database", "db"};

class MetricWriter {
 public:
  virtual ~MetricWriter() = default;

  void counter(const MetricName& name, std::integral auto value) {
    write({.name = name, .kind = MetricKind::kCounter, .value = std::to_string(value)});
  }
  void counter(const MetricName& name, double value, int decimals);
  void gauge(const MetricName& name, std::integral auto value) {
    write({.name = name, .kind = MetricKind::kGauge, .value = std::to_string(value)});
  }
  void gauge(const MetricName& name, double value, int decimals);
  void text(const MetricName& name, std::string_view value) {
    write({.name = name, .kind = MetricKind::kText, .value = value});
  }
  // How long something took, each time. INFO has no form for it.
  void histogram(const MetricName& name, const DurationHistogram& durations,
                 const Exemplars* exemplars = nullptr);
  void histogram(const MetricName& name, const DurationBuckets& durations) {
    write_histogram(name, durations);
  }
  // Metrics of what Redis has and weir has not. Monitoring asks INFO for them; other writers have
  // no use for them.
  void absent(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) write_absent(name, "0");
  }
  void absent(std::string_view name, std::string_view value) { write_absent(name, value); }
  // Calls `fields`, which writes the metrics of one member of a table.
  void row(const MetricTable& table, std::string_view member, const std::function<void()>& fields) {
    begin_row(table, member);
    fields();
    end_row();
  }

 private:
  virtual void write(const Metric& metric) = 0;
  virtual void write_absent(std::string_view name, std::string_view value) = 0;
  virtual void write_histogram(const MetricName&, const DurationBuckets&) {}
  virtual void begin_row(const MetricTable& table, std::string_view member) = 0;
  virtual void end_row() = 0;
};

}  // namespace weir::server
