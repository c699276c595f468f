#include "server/report/info_text.h"

#include <cstdint>
#include <cstdio>

#include "resp/numbers.h"

namespace weir::server {
namespace {

// Answers "512B" or "1.50K".
std::string human(int64_t bytes) {
  constexpr char kUnits[] = {'B', 'K', 'M', 'G', 'T', 'P'};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%c" : "%.2f%c", value, kUnits[unit]);
  return text;
}

}  // namespace

void InfoText::heading(std::string_view title) {
  if (!text_.empty()) text_.append("\r\n");
  text_.append("# ").append(title).append("\r\n");
}

void InfoText::line(std::string_view name, std::string_view value) {
  text_.append(name).append(":").append(value).append("\r\n");
}

// For example: cmdstat_get:calls=1,usec=2
void InfoText::write(const Metric& metric) {
  const auto& [name, help, unit] = metric.name;
  if (in_row_) {
    if (text_.back() != ':') text_.push_back(',');
    text_.append(name).append("=").append(metric.value);
    return;
  }
  line(name, std::string(metric.value) + (unit == MetricUnit::kPercent ? "%" : ""));
  if (unit != MetricUnit::kMemory) return;
  line(std::string(name) + "_human", human(resp::parse_int64(metric.value).value_or(0)));
}

void InfoText::write_absent(std::string_view name, std::string_view value) { line(name, value); }

void InfoText::begin_row(const MetricTable& table, std::string_view member) {
  text_.append(table.info_prefix).append(member).append(":");
  in_row_ = true;
}

void InfoText::end_row() {
  text_.append("\r\n");
  in_row_ = false;
}

}  // namespace weir::server
