// ADAPTIVE in a simulation: a service whose capacity steps and ramps, callers that ask for more
// than it can do, and reports that arrive after the call. Virtual time; nothing is random.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>

#include "algorithms/adaptive.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"

namespace weir::algorithms::testing {
namespace {

constexpr int64_t kSimulationStartNs = 5 * kNsPerDay;
constexpr int64_t kCallNs = 50 * kNsPerMs;

// How many requests a second the service can do at an instant, in milliseconds from the start.
using Capacity = std::function<int64_t(int64_t at_ms)>;

// A service that does `capacity` requests a second, and has room for those of a tenth of one.
class Service {
 public:
  explicit Service(Capacity capacity) : capacity_(std::move(capacity)) {}
  void pass(int64_t at_ms) {
    const int64_t now = capacity_(at_ms);
    room_ = std::min(room_ + now, std::max<int64_t>(1'000, 100 * now));
  }
  bool serve() {
    if (room_ < 1'000) return false;
    room_ -= 1'000;
    return true;
  }

 private:
  Capacity capacity_;
  int64_t room_ = 0;  // in 1/1000 requests
};

struct World {
  Limit limit;
  Service service;
  int64_t asked_each_ms = 1;  // requests
  int64_t ask_every_ms = 1;
  State state = fresh_state(limit, kSimulationStartNs);
  AdaptiveState told = {.round_ns = kSimulationStartNs};
  int64_t at_ms = 0;
  int64_t granted = 0, failed = 0;

  struct Outcome {
    int64_t at_ns;
    bool failed;
  };
  std::deque<Outcome> calls = {};

  World(std::string_view text, Capacity capacity)
      : limit(read(text)), service(std::move(capacity)) {}
  static Limit read(std::string_view text) {
    const auto words = split_at_spaces(text);
    return parse_limits(words)->limits.at(0);
  }

  void tick() {
    const int64_t now_ns = kSimulationStartNs + ++at_ms * kNsPerMs;
    service.pass(at_ms);
    for (; !calls.empty() && calls.front().at_ns <= now_ns; calls.pop_front()) {
      const int64_t count =
          count_after(limit, told, {.now_ns = now_ns, .failed = calls.front().failed});
      change_count(limit, state, count, now_ns);
    }
    if (at_ms % ask_every_ms != 0) return;
    for (int64_t asked = 0; asked < asked_each_ms; ++asked) {
      if (!decide(limit, state, {.now_ns = now_ns}).allowed) continue;
      count_taken(told, 1);
      ++granted;
      const bool fails = !service.serve();
      failed += fails;
      calls.push_back({now_ns + kCallNs, fails});
    }
  }

  // Runs, and demands of each instant that the count is between these parts of the capacity.
  void run(int64_t ms) {
    for (; ms > 0 && !::testing::Test::HasFatalFailure(); --ms) {
      tick();
      ASSERT_GE(limit.count, limit.adaptive.min);
      ASSERT_LE(limit.count, limit.adaptive.max);
    }
  }
  void run_near(int64_t ms, const Capacity& capacity) {
    const int64_t step = (limit.adaptive.max - limit.adaptive.min) / 50;
    const int64_t granted_before = granted, failed_before = failed;
    int64_t could = 0;
    for (; ms > 0 && !::testing::Test::HasFatalFailure(); --ms) {
      run(1);
      could += capacity(at_ms);
      ASSERT_GE(limit.count, capacity(at_ms) * 3 / 4 - step) << "at " << at_ms << " ms";
      ASSERT_LE(limit.count, capacity(at_ms) + 4 * step) << "at " << at_ms << " ms";
    }
    EXPECT_GE(granted - granted_before, could / 1'000 * 4 / 5) << "most of the service is used";
    EXPECT_LE(failed - failed_before, (granted - granted_before) / 20) << "few fail";
  }
};

class AdaptiveSimulation : public ::testing::TestWithParam<const char*> {};

TEST_P(AdaptiveSimulation, SettlesAfterEachStepWithin30Rounds) {
  const Capacity steps = [](int64_t at_ms) {
    return at_ms <= 100'000 ? 200 : at_ms <= 200'000 ? 80 : 300;
  };
  World world(std::string(GetParam()) + " 100/1s ADAPTIVE 10..500", steps);
  for (int step = 0; step < 3; ++step) {
    world.run(30'000);
    world.run_near(70'000, steps);
  }
}

TEST_P(AdaptiveSimulation, FollowsARamp) {
  const Capacity ramp = [](int64_t at_ms) {
    if (at_ms < 60'000) return int64_t{80};
    if (at_ms < 180'000) return 80 + (at_ms - 60'000) * 220 / 120'000;
    if (at_ms < 240'000) return int64_t{300};
    return std::max<int64_t>(100, 300 - (at_ms - 240'000) * 200 / 120'000);
  };
  World world(std::string(GetParam()) + " 100/1s ADAPTIVE 10..500", ramp);
  world.run(30'000);
  world.run_near(400'000, ramp);
}

TEST_P(AdaptiveSimulation, AServiceThatIsDownIsAskedAtMinAndOneThatDoesAllAtMax) {
  const Capacity down = [](int64_t at_ms) { return at_ms < 60'000 ? 0 : 100'000; };
  World world(std::string(GetParam()) + " 100/1s ADAPTIVE 10..500", down);
  world.asked_each_ms = 3;
  world.run(12'000);
  EXPECT_EQ(world.limit.count, 10) << "11 rounds";
  world.run(48'000);
  EXPECT_EQ(world.limit.count, 10);
  world.run(60'000);
  EXPECT_EQ(world.limit.count, 500) << "50 steps and some rounds more";
}

TEST_P(AdaptiveSimulation, WhatIsNotUsedToTheHalfDoesNotGrow) {
  const Capacity all = [](int64_t) { return 100'000; };
  World world(std::string(GetParam()) + " 100/1s ADAPTIVE 10..500", all);
  world.ask_every_ms = 25;  // 40 a second
  world.run(100'000);
  EXPECT_EQ(world.limit.count, 100);
  world.ask_every_ms = 10;  // 100 a second
  world.run(100'000);
  EXPECT_GT(world.limit.count, 190);
  EXPECT_LT(world.limit.count, 220) << "twice what is asked for";
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AdaptiveSimulation,
                         ::testing::Values("GCRA", "TOKENBUCKET", "LEAKY"),
                         [](const auto& named) { return std::string(named.param); });

}  // namespace
}  // namespace weir::algorithms::testing
