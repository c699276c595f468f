#include "server/report/minutes.h"

#include <limits>

namespace weir::server {
namespace {

uint64_t grown(uint64_t before, uint64_t now) { return now < before ? now : now - before; }

DurationHistogram grown(const DurationHistogram& before, DurationHistogram now) {
  if (now.total() >= before.total()) now.take_away(before);
  return now;
}

float seconds_of(const DurationHistogram& durations, double percent) {
  if (durations.total() == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(static_cast<double>(durations.percentile_ns(percent)) / kNsPerS);
}

}  // namespace

void Minutes::end_minute(int64_t steady_ns, int64_t wall_s, const MinuteTotals& totals) {
  if (has_begun_) {
    const double seconds = static_cast<double>(steady_ns - since_ns_) / kNsPerS;
    const auto rate = [seconds](uint64_t before, uint64_t now) {
      return static_cast<float>(static_cast<double>(grown(before, now)) / seconds);
    };
    const DurationHistogram decisions = grown(before_.decisions, totals.decisions);
    if (minutes_.size() == kMinutesMax) minutes_.pop_front();
    minutes_.push_back(
        {.end_s = wall_s,
         .values = {rate(before_.allowed, totals.allowed), rate(before_.denied, totals.denied),
                    rate(before_.shadow_denied, totals.shadow_denied),
                    rate(before_.errors, totals.errors), seconds_of(decisions, 50),
                    seconds_of(decisions, 99), seconds_of(grown(before_.turns, totals.turns), 99),
                    seconds_of(grown(before_.commits, totals.commits), 99)}});
  }
  has_begun_ = true;
  since_ns_ = steady_ns;
  before_ = totals;
}

}  // namespace weir::server
