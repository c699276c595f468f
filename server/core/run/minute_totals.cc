#include "server/core/run/minute_totals.h"

#include "server/core/run/executor.h"

namespace weir::server {

DurationHistogram decision_durations(const Executor& executor) {
  DurationHistogram all;
  const CommandTable& table = executor.table();
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& command = *table.row(i);
    const auto& durations = executor.metrics(command).durations;
    if (durations != nullptr && command.group == "ratelimit") all.add(*durations);
  }
  return all;
}

void end_minute_if_due(Clock& clock, const VerdictCounts& verdicts, const Executor& executor,
                       Report* report) {
  const int64_t steady_ns = clock.steady_ns();
  if (!report->minutes.is_due(steady_ns)) return;
  report->minutes.end_minute(steady_ns, clock.wall_ns() / kNsPerS,
                             {.allowed = verdicts.of(Outcome::kAllowed),
                              .denied = verdicts.of(Outcome::kDenied),
                              .shadow_denied = verdicts.of(Outcome::kShadowDenied),
                              .errors = report->stats.error_replies,
                              .decisions = decision_durations(executor),
                              .turns = report->turns,
                              .commits = report->commits});
}

}  // namespace weir::server
