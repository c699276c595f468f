#include "server/report/collected_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "resp/numbers.h"

namespace weir::server {
namespace {

constexpr std::string_view kNamesBegin = "weir";
// Words of metrics' names that say a unit, or what every counter's name says.
constexpr std::string_view kUnitWords[] = {"ms", "us", "usec", "bytes", "seconds", "total"};

FamilyUnit base_unit(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kNone:
      return FamilyUnit::kNone;
    case MetricUnit::kBytes:
    case MetricUnit::kMemory:
      return FamilyUnit::kBytes;
    case MetricUnit::kSeconds:
    case MetricUnit::kMilliseconds:
    case MetricUnit::kMicroseconds:
      return FamilyUnit::kSeconds;
    case MetricUnit::kPercent:
      return FamilyUnit::kRatio;
  }
  return FamilyUnit::kNone;
}

std::string_view unit_in_name(FamilyUnit unit) {
  switch (unit) {
    case FamilyUnit::kNone:
      return "";
    case FamilyUnit::kBytes:
      return "_bytes";
    case FamilyUnit::kSeconds:
      return "_seconds";
    case FamilyUnit::kRatio:
      return "_ratio";
  }
  return "";
}

// How many of the unit in INFO make one of the base unit.
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

std::string value_in_base_unit(const Metric& metric) {
  const double parts = parts_of_unit(metric.name.unit);
  if (parts == 1) return std::string(metric.value);
  std::array<char, 32> text;
  const double value = resp::parse_double(metric.value).value_or(0) / parts;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
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

std::string printable(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\') {
      text.push_back(c);
    } else {
      text.append("\\x");
      text.push_back(kHex[byte >> 4]);
      text.push_back(kHex[byte & 15]);
    }
  }
  return text;
}

MetricLabel shown_label(std::string_view name, std::string_view value) {
  return {.name = std::string(name), .value = printable(value)};
}

}  // namespace

void CollectedMetrics::leave_out(std::string_view name) { left_out_.emplace_back(name); }

bool CollectedMetrics::is_left_out(std::string_view name) const {
  return std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end();
}

MetricFamily& CollectedMetrics::family_of(const MetricName& metric, FamilyKind kind) {
  std::string name(kNamesBegin);
  add_words(row_table_, &name);
  add_words(metric.name, &name);
  const FamilyUnit unit = base_unit(metric.unit);
  name.append(unit_in_name(unit));
  const auto [found, is_new] = index_.try_emplace(name, families_.size());
  if (is_new)
    families_.push_back(
        {.name = name, .kind = kind, .unit = unit, .help = std::string(metric.help)});
  return families_[found->second];
}

void CollectedMetrics::write(const Metric& metric) {
  if (metric.kind == MetricKind::kText || is_left_out(metric.name.name)) return;
  const bool counts = metric.kind == MetricKind::kCounter;
  family_of(metric.name, counts ? FamilyKind::kCounter : FamilyKind::kGauge)
      .samples.push_back({.labels = row_labels_, .value = value_in_base_unit(metric)});
}

void CollectedMetrics::labelled(const MetricName& name, std::initializer_list<Label> labels,
                                uint64_t value) {
  MetricSample sample{.labels = {}, .value = std::to_string(value)};
  for (const Label& each : labels) sample.labels.push_back(shown_label(each.name, each.value));
  family_of(name, FamilyKind::kCounter).samples.push_back(std::move(sample));
}

void CollectedMetrics::fact(const MetricName& name, const Label& said) {
  family_of(name, FamilyKind::kGauge)
      .samples.push_back({.labels = {shown_label(said.name, said.value)}, .value = "1"});
}

void CollectedMetrics::write_histogram(const MetricName& name, const DurationBuckets& durations) {
  family_of(name, FamilyKind::kHistogram)
      .samples.push_back({.labels = row_labels_,
                          .value = {},
                          .durations = std::make_unique<const DurationBuckets>(durations)});
}

void CollectedMetrics::begin_row(const MetricTable& table, std::string_view member) {
  row_table_ = table.name;
  row_labels_ = {shown_label(table.name, member)};
}

void CollectedMetrics::end_row() {
  row_table_.clear();
  row_labels_.clear();
}

}  // namespace weir::server
