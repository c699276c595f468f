#include "server/core/run/effects.h"

#include <utility>

namespace weir::server {

void Effects::note(CommandMetrics* metrics) {
  if (std::exchange(metrics->noted_in, command_) == command_) return;
  nested_.push_back({.metrics = metrics,
                     .calls = metrics->calls,
                     .timed = metrics->timed,
                     .timed_ns = metrics->timed_ns,
                     .rejected = metrics->rejected,
                     .failed = metrics->failed});
}

void Effects::drop() {
  drop_messages();
  drop_verdicts();
  report_.stats.keyspace_hits = begin_.hits;
  report_.stats.keyspace_misses = begin_.misses;
  messages_.monitors().drop_after(begin_.monitor);
  report_.slow_log.drop_after(begin_.slow);
  for (; nested_.size() > begin_.nested; nested_.pop_back()) {
    const NestedBefore& before = nested_.back();
    before.metrics->calls = before.calls;
    before.metrics->timed = before.timed;
    before.metrics->timed_ns = before.timed_ns;
    before.metrics->rejected = before.rejected;
    before.metrics->failed = before.failed;
  }
  ++command_;
}

}  // namespace weir::server
