// A clock as bad as clocks get: the wall clock drifts, stands still and steps in both directions;
// the steady clock starts anywhere, but never runs back.
//
// Time passes only when advance() is called. How far forward the wall clock ever steps is bounded
// (kWallAheadNsMax), so that a limiter of a very long period is known not to refill.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time_units.h"
#include "server/os/clock.h"
#include "tests/simulation/random.h"

namespace weir::simulation {

class BadClock : public server::Clock {
 public:
  explicit BadClock(Random* random) : random_(*random), drift_ppm_(random_.between(-500, 500)) {
    restart_machine();
  }

  int64_t wall_ns() override { return wall_ns_; }
  int64_t steady_ns() override { return steady_ns_; }
  void sleep_ns(int64_t duration_ns) override { pass(duration_ns); }

  // Some time goes by: mostly microseconds, seldom seconds. Now and then something is wrong.
  void advance() {
    pass(random_.one_in(50)   ? random_.between(0, 5 * kNsPerS)
         : random_.one_in(10) ? random_.between(0, 50 * kNsPerMs)
                              : random_.between(0, kNsPerMs));
    if (random_.one_in(200)) step();
    if (random_.one_in(500)) drift_ppm_ = random_.between(-100'000, 100'000);
    if (random_.one_in(100)) drift_ppm_ = random_.between(-500, 500);
    if (random_.one_in(400)) wall_stands_still_ = !wall_stands_still_;
  }
  void pass(int64_t duration_ns) {
    steady_ns_ += duration_ns;
    if (!wall_stands_still_) wall_ns_ += duration_ns + duration_ns / 1'000'000 * drift_ppm_;
    true_ns_ += duration_ns;
    wall_ns_ = std::min(wall_ns_, true_ns_ + kWallAheadNsMax);
  }
  // The steady clock begins anew.
  void restart_machine() { steady_ns_ = random_.between(1, 1000 * kNsPerS); }
  void behave() {
    drift_ppm_ = 0;
    wall_stands_still_ = false;
  }

  static constexpr int64_t kWallAheadNsMax = 86'400 * kNsPerS;

 private:
  void step() {
    const int64_t width_ns = random_.any_of({kNsPerMs, kNsPerS, 60 * kNsPerS, 3600 * kNsPerS});
    wall_ns_ =
        std::min(wall_ns_ + random_.between(-width_ns, width_ns), true_ns_ + kWallAheadNsMax);
  }

  Random& random_;
  int64_t true_ns_ = 1'700'000'000 * kNsPerS;
  int64_t wall_ns_ = true_ns_;
  int64_t steady_ns_ = 0;
  int64_t drift_ppm_;
  bool wall_stands_still_ = false;
};

}  // namespace weir::simulation
