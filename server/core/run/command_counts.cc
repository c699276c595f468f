#include "server/core/run/command_counts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/time_units.h"
#include "base/trace_parent.h"
#include "server/command/redaction.h"
#include "server/session/session.h"

namespace weir::server {

void CommandCounts::reset() {
  for (CommandMetrics& metrics : metrics_) metrics = {};
}

// A look at the exact clock costs as much as a small command. So this uses what was looked up for
// the instant, and inside scripts and EXEC the coarse clock, where the slow log can do with it.
int64_t CommandCounts::begin_ns(bool is_timed, bool was_looked_up) const {
  Clock& clock = *needs_.clock;
  if (is_timed) return clock.steady_ns();
  if (was_looked_up) return needs_.timeline->looked_steady_ns();
  return needs_.report->slow_log.wants_exact_begin() ? clock.steady_ns() : clock.coarse_steady_ns();
}

void CommandCounts::note_timed(const Call& call, CommandMetrics* metrics, int64_t duration_ns) {
  metrics->timed_ns += duration_ns;
  ++metrics->timed;
  if (!needs_.config->latency_tracking) return;
  if (metrics->durations == nullptr) metrics->durations = std::make_unique<DurationHistogram>();
  metrics->durations->add(duration_ns);
  if (call.trace.empty()) return;
  const auto trace = parse_trace_parent(call.trace);
  if (trace) needs_.report->decisions.note(*trace, duration_ns, call.wall_ns() / kNsPerMs);
}

// Inside scripts and EXEC the begin is that of the coarse clock. A command that waits has not
// ended.
void CommandCounts::note_span(const Call& call, Within within, int64_t begin_ns,
                              std::string_view reply) {
  Spans& spans = needs_.report->spans;
  if (!spans.wanted() || within != Within::kNothing || call.session.wait_state().waiting()) return;
  const auto trace = parse_trace_parent(call.trace);
  if (!trace) return;
  spans.note(*trace, {.name = call.command.name,
                      .begin_unix_ns = call.wall_ns(),
                      .duration_ns = needs_.clock->steady_ns() - begin_ns,
                      .failed = reply.starts_with('-')});
}

// A command that waits is not slow, however long it waits: its session does nothing meanwhile.
void CommandCounts::note_if_slow(const Call& call, Within within, int64_t begin_ns) {
  Report& report = *needs_.report;
  const int64_t duration_ns = needs_.clock->steady_ns() - begin_ns;
  if (report.latency.on()) {
    const int64_t unix_s = needs_.clock->wall_ns() / kNsPerS;
    report.latency.note(call.command.has(kFast) ? "fast-command" : "command", unix_s, duration_ns);
  }
  if (duration_ns > LoopWatch::kLongNs && within == Within::kNothing) {
    report.note_part("command " + std::string(call.command.name), duration_ns);
    call.session.activity().note_long();
  }
  const bool logs = report.slow_log.is_slow(duration_ns) && !call.session.wait_state().waiting();
  if (!logs || call.command.has(kSkipSlowLog)) return;
  // Two more than are kept, because what is secret may be told by the two words before it.
  const Args first = call.args.first(std::min(call.args.size(), SlowLog::kArgsMax + 2));
  const bool has_client = within != Within::kScript;
  SlowLog::Entry entry{.unix_s = call.wall_ns() / kNsPerS,
                       .duration_us = duration_ns / kNsPerUs,
                       .address = has_client ? call.session.client().peer().address : "?:0",
                       .client_name = has_client ? call.session.client().name() : ""};
  report.slow_log.add(std::move(entry), redacted(call.command, first), call.args.size(),
                      call.trace);
}

}  // namespace weir::server
