// Metrics as INFO shows them: lines of "name:value" below the headings of sections.
#pragma once

#include <string>
#include <string_view>

#include "server/report/metrics.h"

namespace weir::server {

class InfoText final : public MetricWriter {
 public:
  void heading(std::string_view title);
  std::string take() { return std::move(text_); }

 private:
  void write(const Metric& metric) override;
  void write_absent(std::string_view name, std::string_view value) override;
  void begin_row(const MetricTable& table, std::string_view member) override;
  void end_row() override;
  void line(std::string_view name, std::string_view value);

  std::string text_;
  bool in_row_ = false;
};

}  // namespace weir::server
