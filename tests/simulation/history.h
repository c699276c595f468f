// The states that the model went through, turn by turn, and how far back a crash may throw the
// server: what a reply has told a client is vouched for and must not be lost.
//
// What is found after a crash must be one of these states, whole: never a mixture, never one
// without an earlier one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "tests/simulation/model.h"

namespace weir::simulation {

enum class Crash { kNone, kKill, kPowerCut };

class History {
 public:
  struct Point {
    uint64_t number;  // never used again
    Model model;
    uint64_t server_turn;  // kNoTurn: it may or may not be in the server's log
    int64_t instant_ns;
  };
  static constexpr uint64_t kNoTurn = UINT64_MAX;

  // From here on this state alone is possible.
  void begin(Model model, uint64_t server_turn, int64_t instant_ns) {
    points_.clear();
    add(std::move(model), server_turn, instant_ns);
    after_kill_ = after_power_cut_ = newest();
  }
  uint64_t add(Model model, uint64_t server_turn, int64_t instant_ns) {
    points_.push_back({next_++, std::move(model), server_turn, instant_ns});
    return newest();
  }
  uint64_t newest() const { return points_.back().number; }
  const Model& newest_model() const { return points_.back().model; }

  void vouch(uint64_t number, bool after_power_cut_too) {
    after_kill_ = std::max(after_kill_, number);
    if (after_power_cut_too) after_power_cut_ = std::max(after_power_cut_, number);
  }
  void vouch_for_synced(uint64_t server_turn) {
    for (const Point& point : points_) {
      if (point.server_turn <= server_turn) vouch(point.number, true);
    }
    while (points_.front().number < std::min(after_kill_, after_power_cut_)) points_.pop_front();
  }

  // The possible states that are like `found`, the newest first. They may differ in what expired.
  std::vector<const Point*> find(const Model& found, Crash crash, int64_t now_ms) const {
    std::vector<const Point*> alike;
    for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
      if (point->number < oldest_possible(crash)) break;
      if (difference(point->model, found, now_ms).empty()) alike.push_back(&*point);
    }
    return alike;
  }
  uint64_t oldest_possible(Crash crash) const {
    return crash == Crash::kNone   ? newest()
           : crash == Crash::kKill ? after_kill_
                                   : after_power_cut_;
  }
  const Point& point(uint64_t number) const {
    return *std::find_if(points_.begin(), points_.end(),
                         [&](const Point& point) { return point.number == number; });
  }

 private:
  std::deque<Point> points_;
  uint64_t next_ = 1;
  uint64_t after_kill_ = 0;
  uint64_t after_power_cut_ = 0;
};

}  // namespace weir::simulation
