#include "server/report/report.h"

#include <algorithm>

#include "base/time_units.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr int64_t kLatencyMsMax = INT64_MAX / kNsPerMs;  // above it nothing can be measured

constexpr int64_t kLongUs = LoopWatch::kLongNs / kNsPerUs;

}  // namespace

void Report::set_rules(const Config& config) {
  const int64_t latency_ms = std::min(config.latency_monitor_threshold, kLatencyMsMax);
  latency.set_threshold_ms(latency_ms);
  slow_log.set_rules(
      {.slower_than_us = config.slowlog_log_slower_than,
       .entries_max = config.slowlog_max_len,
       .suspects_from_us = std::min(latency_ms > 0 ? latency_ms * kUsPerMs : kLongUs, kLongUs),
       .coarse_step_ns = clock_.coarse_step_ns()});
}

void Report::note_error_reply(std::string_view line) {
  ++stats.error_replies;
  errors.note(line);
}

void Report::note_internal_error(std::string_view what) {
  ++stats.internal_errors;
  log_error("a command met a bug and was taken back: {}", what);
}

void Report::note_latency(std::string_view event, int64_t duration_ns) {
  if (latency.on()) latency.note(event, clock_.wall_ns() / kNsPerS, duration_ns);
}

void Report::note_held(std::string_view phase, int64_t duration_ns) {
  note_latency(phase, duration_ns);
  const std::string line = loop.note(phase, duration_ns, loop.since_ns());
  if (!line.empty()) log_warning("{}", line);
}

void Report::note_turn(int64_t duration_ns) {
  ++stats.turns_run;
  turns.add(duration_ns);
  stats.turn_ns += duration_ns;
  stats.turn_ns_max = std::max(stats.turn_ns_max, duration_ns);
  note_latency("turn", duration_ns);
}

void Report::note_commit(int64_t duration_ns) {
  commits.add(duration_ns);
  stats.commit_ns += duration_ns;
  stats.commit_ns_max = std::max(stats.commit_ns_max, duration_ns);
  note_latency("commit", duration_ns);
}

void Report::sample_rates() {
  const int64_t now_ns = clock_.steady_ns();
  command_rate.sample(now_ns, stats.commands);
  input_rate.sample(now_ns, stats.bytes_in);
  output_rate.sample(now_ns, stats.bytes_out);
}

void Report::reset() {
  stats = {};
  turns = {};
  commits = {};
  decisions = {};
  errors = {};
  exports.reset_counts();
  spans.reset_dropped();
  loop.reset();
}

}  // namespace weir::server
