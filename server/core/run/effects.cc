#include "server/core/run/effects.h"

#include <utility>

namespace weir::server {

void Effects::note(CommandFigures* figures) {
  if (std::exchange(figures->noted_in, command_) == command_) return;
  nested_.push_back({.figures = figures,
                     .calls = figures->calls,
                     .timed = figures->timed,
                     .timed_ns = figures->timed_ns,
                     .rejected = figures->rejected,
                     .failed = figures->failed});
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
    before.figures->calls = before.calls;
    before.figures->timed = before.timed;
    before.figures->timed_ns = before.timed_ns;
    before.figures->rejected = before.rejected;
    before.figures->failed = before.failed;
  }
  ++command_;
}

}  // namespace weir::server
