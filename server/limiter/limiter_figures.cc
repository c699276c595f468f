// The figures of verdicts.
#include "server/limiter/limiters.h"
#include "server/report/figures.h"

namespace weir::server {

void write_figures(const Limiters& limiters, FigureWriter& out) {
  const VerdictCounts& verdicts = limiters.verdicts;
  out.counter({"verdicts", "Verdicts of limits, without those of SHADOW."},
              verdicts.allowed + verdicts.denied);
  out.counter({"allowed", "Verdicts that allowed."}, verdicts.allowed);
  out.counter({"denied", "Verdicts that denied."}, verdicts.denied);
  out.counter({"shadow_allowed", "Verdicts with SHADOW that would have allowed anyway."},
              verdicts.shadow_allowed);
  out.counter({"shadow_denied", "Verdicts with SHADOW that would have denied."},
              verdicts.shadow_denied);
  out.counter({"repeated_ids", "Requests that came again with their ID, and charged nothing."},
              verdicts.repeated);
  out.counter({"bans", "Bans of keys that have begun."}, verdicts.bans);
  out.text({"limiting", "Whether limiters deny."}, limiting_name(limiters.limiting));
}

}  // namespace weir::server
