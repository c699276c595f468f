#include "server/report/latency_monitor.h"

#include <algorithm>

#include "base/time_units.h"

namespace weir::server {

void LatencyMonitor::note(std::string_view event, int64_t unix_s, int64_t duration_ns) {
  const int64_t ms = duration_ns / kNsPerMs;
  if (!on() || ms < threshold_ms_) return;
  auto found = events_.find(event);
  if (found == events_.end()) found = events_.emplace(event, Event()).first;
  Event& of = found->second;
  of.ms_max = std::max(of.ms_max, ms);
  if (!of.samples.empty() && of.samples.back().unix_s == unix_s) {
    of.samples.back().ms = std::max(of.samples.back().ms, ms);
    return;
  }
  if (of.samples.size() == kSamplesMax) of.samples.pop_front();
  of.samples.push_back({.unix_s = unix_s, .ms = ms});
}

const LatencyMonitor::Event* LatencyMonitor::find(std::string_view event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? nullptr : &found->second;
}

bool LatencyMonitor::forget(std::string_view event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

size_t LatencyMonitor::forget_all() {
  const size_t count = events_.size();
  events_.clear();
  return count;
}

}  // namespace weir::server
