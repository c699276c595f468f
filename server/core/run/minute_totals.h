// What the server has counted since its start, put together for the minutes that the page draws.
#pragma once

#include "server/limiter/counts/verdict_counts.h"
#include "server/os/clock.h"
#include "server/report/duration_histogram.h"
#include "server/report/report.h"

namespace weir::server {

class Executor;

// The durations of all commands that ask a limiter, of those calls that were timed.
DurationHistogram decision_durations(const Executor& executor);

// Ends the running minute of `report` if it is over; to be called from time to time.
void end_minute_if_due(Clock& clock, const VerdictCounts& verdicts, const Executor& executor,
                       Report* report);

}  // namespace weir::server
