#include "server/report/metrics_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "resp/numbers.h"
#include "server/report/exemplars.h"

namespace weir::server {
namespace {

constexpr std::string_view kPrefix = "weir";
constexpr std::string_view kCounter = "counter";
// Words of metrics' names that say a unit, or what every counter's name says.
constexpr std::string_view kUnitWords[] = {"ms", "us", "usec", "bytes", "seconds", "total"};

std::string_view unit_name(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kNone:
      return "";
    case MetricUnit::kBytes:
    case MetricUnit::kMemory:
      return "bytes";
    case MetricUnit::kSeconds:
    case MetricUnit::kMilliseconds:
    case MetricUnit::kMicroseconds:
      return "seconds";
    case MetricUnit::kPercent:
      return "ratio";
  }
  return "";
}

// How many of the unit in INFO make one of Prometheus' base unit.
double parts_of_unit(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kMilliseconds:
      return 1e3;
    case MetricUnit::kMicroseconds:
      return 1e6;
    case MetricUnit::kPercent:
      return 100;
    default:
      return 1;
  }
}

std::string number_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string value_in_base_unit(const Metric& metric) {
  const double parts = parts_of_unit(metric.name.unit);
  if (parts == 1) return std::string(metric.value);
  return number_text(resp::parse_double(metric.value).value_or(0) / parts);
}

// Adds the words of a name but for those that say a unit. What no name may hold becomes '_'.
void add_words(std::string_view words, std::string* name) {
  while (!words.empty()) {
    const size_t end = std::min(words.find('_'), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (std::ranges::find(kUnitWords, word) != std::end(kUnitWords)) continue;
    name->push_back('_');
    for (const char c : word) {
      const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      name->push_back(fits ? c : '_');
    }
  }
}

std::string label_value(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"') {
      text.append("\\\"");
    } else if (byte >= 0x20 && byte < 0x7f && c != '\\') {
      text.push_back(c);
    } else {
      text.append("\\\\x");
      text.push_back(kHex[byte >> 4]);
      text.push_back(kHex[byte & 15]);
    }
  }
  return text;
}

std::string label(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + label_value(value) + '"';
}

void add_sample(std::string_view name, std::string_view labels, std::string_view value,
                std::string* samples, std::string_view exemplar = {}) {
  samples->append(name);
  if (!labels.empty()) samples->append("{").append(labels).append("}");
  samples->append(" ").append(value).append(exemplar).append("\n");
}

// What stands after the value of a bucket: a trace, and how long and when it was.
std::string exemplar_text(const Exemplar* exemplar) {
  if (exemplar == nullptr) return {};
  return " # {" + label("trace_id", exemplar->trace_id) + "," +
         label("span_id", exemplar->span_id) + "} " +
         number_text(static_cast<double>(exemplar->duration_ns) / 1e9) + " " +
         number_text(static_cast<double>(exemplar->unix_ms) / 1e3);
}

}  // namespace

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void MetricsText::leave_out(std::string_view name) { left_out_.emplace_back(name); }

bool MetricsText::is_left_out(std::string_view name) const {
  return std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end();
}

MetricsText::MetricFamily& MetricsText::metric_family(const MetricName& metric,
                                                      std::string_view type) {
  std::string name(kPrefix);
  add_words(row_table_, &name);
  add_words(metric.name, &name);
  const std::string_view unit = unit_name(metric.unit);
  if (!unit.empty()) name.append("_").append(unit);
  const auto [found, is_new] = index_.try_emplace(name, families_.size());
  if (is_new) {
    families_.push_back({.name = name,
                         .type = std::string(type),
                         .unit = std::string(unit),
                         .help = std::string(metric.help)});
  }
  return families_[found->second];
}

void MetricsText::write(const Metric& metric) {
  if (metric.kind == MetricKind::kText || is_left_out(metric.name.name)) return;
  const bool counts = metric.kind == MetricKind::kCounter;
  MetricFamily& of = metric_family(metric.name, counts ? kCounter : "gauge");
  add_sample(of.name + (counts ? "_total" : ""), row_labels_, value_in_base_unit(metric),
             &of.samples);
}

void MetricsText::labelled(const MetricName& name, std::initializer_list<Label> labels,
                           uint64_t value) {
  std::string text;
  for (const Label& each : labels) {
    if (!text.empty()) text.push_back(',');
    text.append(label(each.name, each.value));
  }
  MetricFamily& of = metric_family(name, kCounter);
  add_sample(of.name + "_total", text, std::to_string(value), &of.samples);
}

void MetricsText::fact(const MetricName& name, const Label& said) {
  MetricFamily& of = metric_family(name, "gauge");
  add_sample(of.name, label(said.name, said.value), "1", &of.samples);
}

void MetricsText::write_histogram(const MetricName& name, const DurationBuckets& durations) {
  MetricFamily& of = metric_family(name, "histogram");
  const std::string comma = row_labels_.empty() ? "" : row_labels_ + ",";
  const bool shows = format_ == MetricsFormat::kOpenMetrics;  // the older format has no exemplars
  for (const auto& [bound_ns, below, exemplar] : durations.buckets) {
    const double bound_s = static_cast<double>(bound_ns) / 1e9;
    add_sample(of.name + "_bucket", comma + label("le", number_text(bound_s)),
               std::to_string(below), &of.samples, shows ? exemplar_text(exemplar) : "");
  }
  const std::string total = std::to_string(durations.total);
  add_sample(of.name + "_bucket", comma + label("le", "+Inf"), total, &of.samples,
             shows ? exemplar_text(durations.exemplar) : "");
  add_sample(of.name + "_sum", row_labels_,
             number_text(static_cast<double>(durations.sum_ns) / 1e9), &of.samples);
  add_sample(of.name + "_count", row_labels_, total, &of.samples);
}

void MetricsText::begin_row(const MetricTable& table, std::string_view member) {
  row_table_ = table.name;
  row_labels_ = label(table.name, member);
}

void MetricsText::end_row() {
  row_table_.clear();
  row_labels_.clear();
}

std::string MetricsText::take() const {
  const bool open = format_ == MetricsFormat::kOpenMetrics;
  std::string text;
  for (const MetricFamily& of : families_) {
    // The older format counts the suffix of a counter's samples to the metric's name.
    const std::string name = of.name + (!open && of.type == kCounter ? "_total" : "");
    text.append("# HELP ").append(name).append(" ").append(of.help).append("\n");
    text.append("# TYPE ").append(name).append(" ").append(of.type).append("\n");
    if (open && !of.unit.empty())
      text.append("# UNIT ").append(name).append(" ").append(of.unit).append("\n");
    text.append(of.samples);
  }
  if (open) text.append("# EOF\n");
  return text;
}

}  // namespace weir::server
