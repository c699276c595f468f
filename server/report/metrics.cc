#include "server/report/metrics.h"

#include <cstdio>

#include "server/report/duration_histogram.h"
#include "server/report/exemplars.h"

namespace weir::server {
namespace {

struct Decimal {
  Decimal(double value, int decimals) { std::snprintf(text, sizeof text, "%.*f", decimals, value); }

  char text[400];  // the largest double has 309 digits
};

}  // namespace

void MetricWriter::counter(const MetricName& name, double value, int decimals) {
  write({.name = name, .kind = MetricKind::kCounter, .value = Decimal(value, decimals).text});
}

void MetricWriter::gauge(const MetricName& name, double value, int decimals) {
  write({.name = name, .kind = MetricKind::kGauge, .value = Decimal(value, decimals).text});
}

void MetricWriter::histogram(const MetricName& name, const DurationHistogram& durations,
                             const Exemplars* exemplars) {
  DurationBuckets shown{.buckets = {}, .total = durations.total(), .sum_ns = durations.sum_ns()};
  for (int power = DurationHistogram::kFirstPower; power < DurationHistogram::kLastPower; ++power) {
    shown.buckets.push_back({int64_t{1} << power, durations.below(power)});
    if (exemplars != nullptr) shown.buckets.back().exemplar = exemplars->below(power);
  }
  if (exemplars != nullptr) shown.exemplar = exemplars->below(DurationHistogram::kLastPower);
  write_histogram(name, shown);
}

}  // namespace weir::server
