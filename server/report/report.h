// What the server counts and times about itself: for INFO, LATENCY and SLOWLOG.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/config/config.h"
#include "server/os/clock.h"
#include "server/os/rate_meter.h"
#include "server/report/duration_histogram.h"
#include "server/report/error_metrics.h"
#include "server/report/exemplars.h"
#include "server/report/latency_monitor.h"
#include "server/report/loop_watch.h"
#include "server/report/minutes.h"
#include "server/report/slow_log.h"

namespace weir::server {

struct Stats {
  uint64_t connections = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands = 0;
  uint64_t error_replies = 0;
  uint64_t keyspace_hits = 0;
  uint64_t keyspace_misses = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  uint64_t reads = 0;  // from sockets
  uint64_t writes = 0;
  uint64_t http_requests = 0;   // of http-port and http-tls-port
  uint64_t http_failed = 0;     // of them, answered a status of 500 or above
  uint64_t gate_errors = 0;     // questions to the gate that got no verdict
  uint64_t grpc_requests = 0;   // calls of grpc-port and grpc-tls-port
  uint64_t grpc_failed = 0;     // of them, answered another status than OK
  uint64_t rls_over_limit = 0;  // calls of the rate limit service that were answered so
  uint64_t rls_unruled = 0;     // descriptors that no rule is for
  uint64_t turns = 0;           // committed with changes
  uint64_t turns_failed = 0;
  uint64_t turns_run = 0;  // in which a session had something to say, changes or not
  int64_t turn_ns = 0;     // all of them together, from the first request to the replies' release
  int64_t turn_ns_max = 0;
  int64_t commit_ns = 0;  // the part of it that the log took
  int64_t commit_ns_max = 0;
  size_t working_set_bytes_max = 0;
  uint64_t internal_errors = 0;  // commands that met a bug
  uint64_t expired_before = 0;   // of the keyspace's metrics, when statistics were reset
  uint64_t evicted_before = 0;
};

class Report {
 public:
  explicit Report(Clock* clock)
      : started_wall_ns(clock->wall_ns()), started_steady_ns(clock->steady_ns()), clock_(*clock) {}

  // The options of the slow log and of the latency monitor have changed.
  void set_rules(const Config& config);

  // `line`: the reply, or the error that becomes one.
  void note_error_reply(std::string_view line);
  // A command met a bug (base/check.h) and was taken back.
  void note_internal_error(std::string_view what);
  void note_look_up(bool found) { ++(found ? stats.keyspace_hits : stats.keyspace_misses); }
  void note_latency(std::string_view event, int64_t duration_ns);
  // The loop has ended a phase at `now_ns`; if that took long, it is reported under the
  // phase's name.
  void end_phase(std::string_view phase, int64_t now_ns) {
    if (const int64_t held_ns = loop.end(now_ns); held_ns > 0) note_held(phase, held_ns);
  }
  // A part of the running phase that has a name of its own.
  void note_part(std::string_view part, int64_t duration_ns) {
    loop.name_part(duration_ns);
    note_held(part, duration_ns);
  }
  void note_turn(int64_t duration_ns);
  void note_commit(int64_t duration_ns);
  // To be called from time to time.
  void sample_rates();
  // CONFIG RESETSTAT, as far as it is counted here.
  void reset();

  Stats stats;
  DurationHistogram turns;    // each from its first request to the release of its replies
  DurationHistogram commits;  // the part of each that the log took
  Exemplars decisions;        // of commands that ask a limiter, those that are timed
  ErrorMetrics errors;
  LatencyMonitor latency;
  LoopWatch loop;
  SlowLog slow_log;
  Minutes minutes;
  RateMeter command_rate;
  RateMeter input_rate;
  RateMeter output_rate;
  int64_t started_wall_ns;
  int64_t started_steady_ns;
  std::string run_id;  // 40 hexadecimal digits, other ones each time the server starts

 private:
  void note_held(std::string_view phase, int64_t duration_ns);

  Clock& clock_;
};

}  // namespace weir::server
