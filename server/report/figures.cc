#include "server/report/figures.h"

#include <cstdio>

#include "server/report/duration_histogram.h"

namespace weir::server {
namespace {

struct Decimal {
  Decimal(double value, int decimals) { std::snprintf(text, sizeof text, "%.*f", decimals, value); }

  char text[400];  // the largest double has 309 digits
};

}  // namespace

void FigureWriter::counter(const FigureName& name, double value, int decimals) {
  write({.name = name, .kind = FigureKind::kCounter, .value = Decimal(value, decimals).text});
}

void FigureWriter::gauge(const FigureName& name, double value, int decimals) {
  write({.name = name, .kind = FigureKind::kGauge, .value = Decimal(value, decimals).text});
}

void FigureWriter::histogram(const FigureName& name, const DurationHistogram& durations) {
  DurationBuckets shown{.buckets = {}, .total = durations.total(), .sum_ns = durations.sum_ns()};
  for (int power = DurationHistogram::kFirstPower; power < DurationHistogram::kLastPower; ++power)
    shown.buckets.push_back({int64_t{1} << power, durations.below(power)});
  write_histogram(name, shown);
}

}  // namespace weir::server
