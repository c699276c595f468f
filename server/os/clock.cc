#include "server/os/clock.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "base/time_units.h"

namespace weir::server {
namespace {

// The two clocks are read one after the other, and the time service slews them apart: smaller
// differences are no step.
constexpr int64_t kStepNs = kNsPerMs;

int64_t count_ns(auto duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

}  // namespace

int64_t SystemClock::wall_ns() {
  return count_ns(std::chrono::system_clock::now().time_since_epoch());
}
int64_t SystemClock::steady_ns() {
  return count_ns(std::chrono::steady_clock::now().time_since_epoch());
}
int64_t SystemClock::boot_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}
// This clock has the origin of std::chrono's steady clock here, but is kept by the timer's
// interrupts.
int64_t SystemClock::coarse_steady_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}
int64_t SystemClock::coarse_step_ns() {
  timespec step{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &step);
  return step.tv_sec * kNsPerS + step.tv_nsec;
}
void SystemClock::sleep_ns(int64_t duration_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
}

namespace {

// Answers what the wall clock said at a reset: all of the lead was accepted then.
int64_t reset_at(const StoredClock& stored) {
  return stored.reset_ns < 0 ? 0 : stored.reset_ns - stored.accepted_ns;
}

}  // namespace

Timeline::Timeline(Clock* clock)
    : clock_(clock), wall_ns_(clock->wall_ns()), steady_ns_(clock->steady_ns()) {
  newest_ns_ = wall_ns_;
}

void Timeline::resume(int64_t newest_instant_ns, const StoredClock& stored) {
  wall_ns_ = clock_->wall_ns();
  steady_ns_ = clock_->steady_ns();
  wall_ = {.lead_ns = std::max(stored.lead_ns, newest_instant_ns - wall_ns_),
           .reset_ns = stored.reset_ns,
           .reset_at_ns = reset_at(stored)};
  accepted_ns_ = std::clamp<int64_t>(stored.accepted_ns, 0, wall_.lead_ns);
  newest_ns_ = std::max(newest_instant_ns, wall_ns_ + wall_.lead_ns);
}

void Timeline::lead_by(InstantSource* source) {
  source_ = source;
  accepted_ns_ = 0;
  wall_ = {};
  begin_anew();
}

void Timeline::begin_anew() {
  newest_ns_ = 0;
  follow_source();
}

void Timeline::follow_source() {
  passes_ = source_->passes();
  wall_ns_ = clock_->wall_ns();
  steady_ns_ = clock_->steady_ns();
  newest_ns_ = std::max(newest_ns_, source_->instant_ns());
  wall_.lead_ns = newest_ns_ - wall_ns_;
}

void Timeline::synchronise() {
  if (source_ != nullptr) return follow_source();
  const int64_t wall_ns = clock_->wall_ns();
  const int64_t steady_ns = clock_->steady_ns();
  const int64_t step_ns = (wall_ns - wall_ns_) - (steady_ns - steady_ns_);
  if (step_ns <= -kStepNs) {
    wall_.lead_ns -= step_ns;
  } else if (step_ns >= kStepNs && wall_.lead_ns > accepted_ns_) {
    wall_.lead_ns = std::max(accepted_ns_, wall_.lead_ns - step_ns);
  } else if (step_ns < kStepNs && step_ns > -kStepNs && steady_ns - steady_ns_ < kNsPerS) {
    return;  // small differences add up, or a slow drift would never count
  }
  wall_ns_ = wall_ns;
  steady_ns_ = steady_ns;
}

int64_t Timeline::now_ns() {
  looked_steady_ns_ = clock_->steady_ns();
  if (!passes_) return newest_ns_;
  const int64_t instant_ns = wall_ns_ + wall_.lead_ns + (looked_steady_ns_ - steady_ns_);
  newest_ns_ = std::max(newest_ns_, instant_ns);
  return newest_ns_;
}

void Timeline::accept() {
  accepted_ns_ = wall_.lead_ns;
  wall_.reset_ns = now_ns();
  wall_.reset_at_ns = wall_.at(wall_.reset_ns);
}

void Timeline::take_back_accept(const StoredClock& before) {
  accepted_ns_ = std::min(before.accepted_ns, wall_.lead_ns);
  wall_.reset_ns = before.reset_ns;
  wall_.reset_at_ns = reset_at(before);
}

}  // namespace weir::server
