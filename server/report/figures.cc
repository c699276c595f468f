#include "server/report/figures.h"

#include <cstdio>

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

}  // namespace weir::server
