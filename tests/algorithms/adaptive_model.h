// A limit with ADAPTIVE that is obviously right: it keeps every event since the count was last
// looked at, and a level in units of 1/period permits. It shares nothing with adaptive.cc.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/wide.h"
#include "base/time_units.h"

namespace weir::algorithms::testing {

struct AdaptiveModel {
  int64_t period_ns, min, max, count;
  int64_t fixed_capacity;  // 0: the count
  int64_t slow_ns;         // 0: none
  int64_t now_ns;

  int128 level = 0;  // used, in 1/period permits
  struct Taken {
    int64_t at_ns, permits;
  };
  std::vector<Taken> taken = {};
  std::vector<int64_t> failures = {};  // since the count was last lowered or a round ended
  int64_t round_from_ns = now_ns;
  std::vector<int64_t> lowerings = {};

  int64_t capacity() const { return fixed_capacity == 0 ? count : fixed_capacity; }

  void pass_to(int64_t to_ns) {
    level -= int128{to_ns - now_ns} * count;
    const bool keeps = capacity() == 1 && -level < count;  // level.h, invariant 2
    if (level < 0 && !keeps) level = 0;
    now_ns = to_ns;
  }

  bool take(int64_t cost) {
    if (level + int128{cost} * period_ns > int128{capacity()} * period_ns) return false;
    level += int128{cost} * period_ns;
    taken.push_back({now_ns, cost});
    return true;
  }

  void give_back(int64_t permits) {
    if (level <= 0) return;
    const int128 before = level;
    level = std::max<int128>(0, level - int128{permits} * period_ns);
    const auto up = [this](int128 units) { return (units + period_ns - 1) / period_ns; };
    int64_t back = static_cast<int64_t>(up(before) - up(level));
    // What is given back beyond what the round has taken is not owed by the next takes.
    int64_t sum = 0;
    for (const Taken& each : taken) sum += each.permits;
    back = std::min(back, sum);
    if (back > 0) taken.push_back({now_ns, -back});
  }

  int64_t round_ns() const {
    return std::min<int64_t>(std::max<int64_t>(period_ns, kNsPerS / 10), 10 * kNsPerS);
  }

  void tell(bool failed, int64_t latency_ns) {
    if (slow_ns != 0 && latency_ns > slow_ns) failed = true;
    const bool may_lower = lowerings.empty() || now_ns >= lowerings.back() + round_ns();
    if (failed && may_lower) {
      lowerings.push_back(now_ns);
      set_count(count - count / 5 - (count % 5 != 0));
      end_round();
    } else if (failed) {
      failures.push_back(now_ns);
    } else if (now_ns >= round_from_ns + round_ns()) {
      int128 sum = 0;
      for (const Taken& each : taken) sum += each.permits;
      // The rate at which permits were taken, as a share of the rate at which they come back.
      const bool half = sum * 2 * period_ns >= int128{count} * (now_ns - round_from_ns);
      const int64_t step = std::max<int64_t>((max - min) / 50, 1);
      if (half && failures.empty()) set_count(count + step);
      end_round();
    }
  }

 private:
  void set_count(int64_t wanted) {
    const int64_t to = std::clamp(wanted, min, max);
    if (to == count) return;
    if (level < 0) level = 0;
    const int128 available = int128{capacity()} * period_ns - level;
    count = to;
    const int128 full = int128{capacity()} * period_ns;
    level = full - std::min(available, full);
  }
  void end_round() {
    taken.clear();
    failures.clear();
    round_from_ns = now_ns;
  }
};

}  // namespace weir::algorithms::testing
