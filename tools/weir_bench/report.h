// What a run found, and how it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/weir_bench/histogram.h"
#include "tools/weir_bench/options.h"
#include "tools/weir_bench/workload.h"

namespace weir::bench {

struct Second {
  uint64_t replies = 0;
  int64_t latency_max_ns = 0;
};

struct Report {
  Tally tally;                 // of the whole run, warm-up included
  uint64_t replies = 0;        // that came in the measured window
  int64_t window_ns = 0;       // its length
  Histogram latency;           // of requests that were sent (open loop: due) since the window began
  uint64_t never_sent = 0;     // open loop: due in the window, with no connection free till its end
  int64_t silence_max_ns = 0;  // longest time in the window without any reply
  int64_t own_pause_max_ns = 0;  // longest time that this program took between two looks at sockets
  int64_t server_cpu_us = -1;    // in the window, all threads and finished children; -1: not asked
  int64_t own_cpu_us = 0;        // likewise
  int64_t others_cpu_us = 0;     // likewise, of all other programs on this machine
  std::vector<Second> series;
  std::string failure;  // why the run ended early

  bool all_good() const { return failure.empty() && tally.denied == 0 && tally.wrong == 0; }
  double replies_per_second() const;
  double others_percent() const;  // of all processors
};

std::string to_text(const Options& options, const Report& report);
std::string to_json(const Options& options, const Report& report);

// User and system time of a process, its finished children included; -1 if there is no such.
int64_t cpu_time_us(int64_t pid);
// The same of all programs together.
int64_t machine_cpu_time_us();

}  // namespace weir::bench
