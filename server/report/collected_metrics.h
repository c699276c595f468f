// Metrics as those who collect them name them, in families: each with its help, its kind and its
// unit, and with all its samples. What Prometheus reads (report/metrics_text.h) and what OTLP sends
// are written from it, so that no form has a metric, or a value, that another one has not.
//
// A metric is named: "weir_", the table of its row if it has one, the words of INFO's name without
// those that name a unit, and the base unit (seconds, bytes).
// So INFO's `unsynced_age_ms:13` is `weir_unsynced_age_seconds` 0.013. The member of a row is a
// label with the table's name: `weir_command_calls{command="get"}`. Metrics that are words,
// and what Redis has and weir has not, are left out.
//
// It holds all that it shows, so it may be handed to another thread.
//
// Invariants
// 1. There is one family of a name.
// 2. Whatever bytes a label's value is made of, it is printable ASCII: other bytes, and the
//    backslash, stand as \x and two hexadecimal digits, so no two values look alike.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/metrics.h"

namespace weir::server {

enum class FamilyKind : uint8_t { kCounter, kGauge, kHistogram };
enum class FamilyUnit : uint8_t { kNone, kBytes, kSeconds, kRatio };

struct MetricLabel {
  std::string name;
  std::string value;
};

struct MetricSample {
  std::vector<MetricLabel> labels;
  std::string value;                                      // the number in decimal
  std::unique_ptr<const DurationBuckets> durations = {};  // in its place, of a histogram
};

struct MetricFamily {
  std::string name;  // without what the samples' names add
  FamilyKind kind = FamilyKind::kGauge;
  FamilyUnit unit = FamilyUnit::kNone;
  std::string help;
  std::vector<MetricSample> samples = {};
};

class CollectedMetrics final : public MetricWriter {
 public:
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
  // Answers them in the order in which their first samples came.
  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  void write(const Metric& metric) override;
  void write_absent(std::string_view, std::string_view) override {}
  void write_histogram(const MetricName& name, const DurationBuckets& durations) override;
  void begin_row(const MetricTable& table, std::string_view member) override;
  void end_row() override;

  // Answers the family, which is made where there is none.
  MetricFamily& family_of(const MetricName& name, FamilyKind kind);
  bool is_left_out(std::string_view name) const;

  std::vector<MetricFamily> families_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::string> left_out_;
  std::string row_table_;  // empty: in no row
  std::vector<MetricLabel> row_labels_;
};

}  // namespace weir::server
