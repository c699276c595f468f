#include "server/report/metrics_text.h"

#include <array>
#include <charconv>

namespace weir::server {
namespace {

std::string_view type_name(FamilyKind kind) {
  switch (kind) {
    case FamilyKind::kCounter:
      return "counter";
    case FamilyKind::kGauge:
      return "gauge";
    case FamilyKind::kHistogram:
      return "histogram";
  }
  return "";
}

std::string_view unit_name(FamilyUnit unit) {
  switch (unit) {
    case FamilyUnit::kNone:
      return "";
    case FamilyUnit::kBytes:
      return "bytes";
    case FamilyUnit::kSeconds:
      return "seconds";
    case FamilyUnit::kRatio:
      return "ratio";
  }
  return "";
}

std::string number_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

void add_label(std::string_view name, std::string_view value, std::string* labels) {
  if (!labels->empty()) labels->push_back(',');
  labels->append(name).append("=\"");
  for (const char c : value) {
    if (c == '"' || c == '\\') labels->push_back('\\');
    labels->push_back(c);
  }
  labels->push_back('"');
}

std::string labels_text(const MetricSample& sample) {
  std::string labels;
  for (const auto& [name, value] : sample.labels) add_label(name, value, &labels);
  return labels;
}

void add_sample(std::string_view name, std::string_view labels, std::string_view value,
                std::string* text, std::string_view exemplar = {}) {
  text->append(name);
  if (!labels.empty()) text->append("{").append(labels).append("}");
  text->append(" ").append(value).append(exemplar).append("\n");
}

// What stands after the value of a bucket: a trace, and how long and when it was. The older format
// has none.
std::string exemplar_text(const std::optional<Exemplar>& exemplar, MetricsFormat format) {
  if (!exemplar || format != MetricsFormat::kOpenMetrics) return {};
  std::string labels;
  add_label("trace_id", exemplar->trace_id, &labels);
  add_label("span_id", exemplar->span_id, &labels);
  return " # {" + labels + "} " + number_text(static_cast<double>(exemplar->duration_ns) / 1e9) +
         " " + number_text(static_cast<double>(exemplar->unix_ms) / 1e3);
}

void add_histogram(const std::string& name, const MetricSample& sample, MetricsFormat format,
                   std::string* text) {
  const std::string labels = labels_text(sample);
  const auto with_bound = [&labels](std::string_view bound) {
    std::string all = labels;
    add_label("le", bound, &all);
    return all;
  };
  const DurationBuckets& durations = *sample.durations;
  for (const auto& [bound_ns, below, exemplar] : durations.buckets) {
    const double bound_s = static_cast<double>(bound_ns) / 1e9;
    add_sample(name + "_bucket", with_bound(number_text(bound_s)), std::to_string(below), text,
               exemplar_text(exemplar, format));
  }
  const std::string total = std::to_string(durations.total);
  add_sample(name + "_bucket", with_bound("+Inf"), total, text,
             exemplar_text(durations.exemplar, format));
  add_sample(name + "_sum", labels, number_text(static_cast<double>(durations.sum_ns) / 1e9), text);
  add_sample(name + "_count", labels, total, text);
}

}  // namespace

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string text_of(const CollectedMetrics& metrics, MetricsFormat format) {
  const bool open = format == MetricsFormat::kOpenMetrics;
  std::string text;
  for (const MetricFamily& of : metrics.families()) {
    const std::string samples = of.name + (of.kind == FamilyKind::kCounter ? "_total" : "");
    // The older format counts the suffix of a counter's samples to the metric's name.
    const std::string& name = open ? of.name : samples;
    text.append("# HELP ").append(name).append(" ").append(of.help).append("\n");
    text.append("# TYPE ").append(name).append(" ").append(type_name(of.kind)).append("\n");
    if (open && of.unit != FamilyUnit::kNone)
      text.append("# UNIT ").append(name).append(" ").append(unit_name(of.unit)).append("\n");
    for (const MetricSample& sample : of.samples) {
      if (sample.durations) {
        add_histogram(of.name, sample, format, &text);
      } else {
        add_sample(samples, labels_text(sample), sample.value, &text);
      }
    }
  }
  if (open) text.append("# EOF\n");
  return text;
}

}  // namespace weir::server
