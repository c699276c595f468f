// What is counted and timed of commands: their metrics, their errors, the slow log and the latency
// monitor.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "server/command/command.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/os/clock.h"
#include "server/report/duration_histogram.h"
#include "server/report/report.h"

namespace weir::server {

struct CommandMetrics {
  uint64_t calls = 0;
  uint64_t timed = 0;  // of the calls, the first and every 16th after it
  int64_t timed_ns = 0;
  uint64_t rejected = 0;                              // arity, rights, state of the server
  uint64_t failed = 0;                                // answered an error
  std::unique_ptr<DurationHistogram> durations = {};  // null: none timed while latency-tracking
  uint64_t noted_in = 0;  // the command in which Effects has noted them last
};

// What a command runs as a part of.
enum class Within : uint8_t { kNothing, kTransaction, kScript };

class CommandCounts {
 public:
  struct Needs {
    const CommandTable* commands;
    const Config* config;
    Clock* clock;
    const Timeline* timeline;
    Report* report;
  };
  explicit CommandCounts(const Needs& needs) : needs_(needs), metrics_(needs.commands->count()) {}

  // They stay where they are.
  CommandMetrics& of(const Command& command) {
    return metrics_[needs_.commands->index_of(command)];
  }
  const CommandMetrics& of(const Command& command) const {
    return metrics_[needs_.commands->index_of(command)];
  }
  void reset();
  void note_error(std::string_view line) { needs_.report->note_error_reply(line); }

  // One command: whether it is timed, when it began by the steady clock, and what is noted at its
  // end. `was_looked_up`: the instant of the command was, and nothing has run since.
  static bool is_timed(const CommandMetrics& metrics) { return metrics.calls % kTimedOneIn == 0; }
  int64_t begin_ns(bool is_timed, bool was_looked_up) const;
  void note_end(const Call& call, CommandMetrics* metrics, Within within, bool is_timed,
                int64_t begin_ns) {
    ++metrics->calls;  // not before, as in Redis: an INFO does not count itself
    if (is_timed) note_timed(call, metrics, needs_.clock->steady_ns() - begin_ns);
    if (needs_.report->slow_log.may_be_slow(needs_.clock->coarse_steady_ns() - begin_ns))
      note_if_slow(call, within, begin_ns);
  }
  // The same command, if it is part of a trace: a span, if somebody wants it. `reply`: what it has
  // answered.
  void note_span(const Call& call, Within within, int64_t begin_ns, std::string_view reply);

 private:
  static constexpr uint64_t kTimedOneIn = 16;

  void note_timed(const Call& call, CommandMetrics* metrics, int64_t duration_ns);
  void note_if_slow(const Call& call, Within within, int64_t begin_ns);

  Needs needs_;
  std::vector<CommandMetrics> metrics_;  // by the rows' numbers
};

}  // namespace weir::server
