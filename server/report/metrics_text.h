// Metrics as Prometheus reads them: each with its help, its type and its unit.
//
// A metric is named: "weir_", the table of its row if it has one, the words of INFO's name without
// those that name a unit, the base unit (seconds, bytes), and "_total" for a counter.
// So INFO's `unsynced_age_ms:13` is `weir_unsynced_age_seconds 0.013`. The member of a row is a
// label with the table's name: `weir_command_calls_total{command="get"}`. Metrics that are words,
// and what Redis has and weir has not, are left out.
//
// Invariants
// 1. The text holds each metric once, with all its samples after its head, as both formats demand.
// 2. Whatever bytes a label's value is made of, the text is printable ASCII: other bytes, and the
//    backslash, stand as \x and two hexadecimal digits, so no two values look alike.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/metrics.h"

namespace weir::server {

enum class MetricsFormat : uint8_t {
  kPrometheus,   // text format 0.0.4, which everything that scrapes reads
  kOpenMetrics,  // OpenMetrics 1.0.0
};

// What an answer in the format has as its Content-Type.
std::string_view content_type(MetricsFormat format);

class MetricsText final : public MetricWriter {
 public:
  explicit MetricsText(MetricsFormat format) : format_(format) {}

  // Metrics of this name are left out from now on, alone or in rows.
  void leave_out(std::string_view name);
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  // One of the samples of a counter that has labels.
  void labelled(const MetricName& name, std::initializer_list<Label> labels, uint64_t value);
  // A metric whose value is always 1, and whose label says something in words.
  void fact(const MetricName& name, const Label& label);
  std::string take() const;

 private:
  struct MetricFamily {
    std::string name;  // without what the samples' names add
    std::string type;
    std::string unit;
    std::string help;
    std::string samples = {};
  };

  void write(const Metric& metric) override;
  void write_absent(std::string_view, std::string_view) override {}
  void write_histogram(const MetricName& name, const DurationBuckets& durations) override;
  void begin_row(const MetricTable& table, std::string_view member) override;
  void end_row() override;

  // Answers the family, which is made where there is none.
  MetricFamily& metric_family(const MetricName& name, std::string_view type);
  bool is_left_out(std::string_view name) const;

  const MetricsFormat format_;
  std::vector<MetricFamily> families_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::string> left_out_;
  std::string row_table_;  // empty: in no row
  std::string row_labels_;
};

}  // namespace weir::server
