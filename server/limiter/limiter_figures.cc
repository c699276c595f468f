// The figures of verdicts.
#include "server/limiter/limiters.h"
#include "server/report/figures.h"

namespace weir::server {

void write_figures(const Limiters& limiters, FigureWriter& out) {
  out.counter({"verdicts", "Verdicts of limits."}, limiters.allowed + limiters.denied);
  out.counter({"allowed", "Verdicts that allowed."}, limiters.allowed);
  out.counter({"denied", "Verdicts that denied."}, limiters.denied);
}

}  // namespace weir::server
