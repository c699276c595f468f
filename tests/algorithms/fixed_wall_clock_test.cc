// FIXED's windows of the wall clock under a wall clock that steps: whatever it does, no window is
// handed out twice, none freezes a key for long, and what is forgotten is not missed.
#include <map>

#include "algorithms/fixed.h"
#include "algorithms/fixed_grammar.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

constexpr int64_t kYear = 365 * kNsPerDay;

// A wall clock that somebody sets, and instants as a server has them (server/os/clock.h).
class Steps {
 public:
  void pass(int64_t ns) {
    instant_ns += ns;
    wall_ns_ += ns;
  }
  void step(int64_t ns) {
    wall_ns_ += ns;
    instant_ns = std::max(instant_ns, wall_ns_ + accepted_ns_);
    wall.lead_ns = instant_ns - wall_ns_;
  }
  void reset() {
    accepted_ns_ = wall.lead_ns;
    wall.reset_ns = instant_ns;
    wall.reset_at_ns = wall.at(instant_ns);
  }
  int64_t wall_ns() const { return wall_ns_; }

  int64_t instant_ns = kStartNs;
  WallClock wall;

 private:
  int64_t wall_ns_ = kStartNs;
  int64_t accepted_ns_ = 0;
};

Limit any_wall_clock_window(Rng& rng) {
  const int64_t count = rng.between(1, 9);
  if (rng.one_in(3)) {
    const int64_t period_ns = rng.any_magnitude(kNsPerS, 400 * kNsPerDay);
    return windowed(algorithm_fixed, count, period_ns, {kAlignEpoch, 0});
  }
  return make_limit(calendar_spec(count, any_calendar(rng))).value();
}

class Lives : public ::testing::Test {
 protected:
  Request request(int64_t cost) {
    return {.now_ns = clock_.instant_ns, .cost = cost, .wall = &clock_.wall};
  }
  bool take(int64_t cost) { return decide(limit_, state_, request(cost)).allowed; }
  void happen() {
    const int64_t unit_ns = limit_.period_ns;
    const bool far = rng().one_in(2);
    clock_.pass(far ? rng().between(0, unit_ns / 2) : rng().any_magnitude(0, unit_ns / 4));
    if (!rng().one_in(5)) return;
    const int64_t sizes[] = {kNsPerS, unit_ns / 2, unit_ns, 3 * unit_ns, kYear};
    const int64_t size_ns = rng().between(0, rng().pick(sizes));
    const int64_t at_ns = clock_.wall_ns();
    const bool back = rng().one_in(2) && at_ns - size_ns > kYear;
    if (back || at_ns + size_ns < kInstantNsMax / 2) clock_.step(back ? -size_ns : size_ns);
  }
  void restart() {
    const std::string bytes = bytes_of(limit_, state_);
    LimitState read;
    ASSERT_TRUE(read_record(bytes, {&read, 1}, &test_zones()).ok());
    ASSERT_EQ(bytes_of(read.limit, read.state), bytes);
    state_ = read.state;
    if (limit_.algorithm->expires_at_ns(limit_, state_) <= clock_.instant_ns)
      state_ = fresh_state(limit_, clock_.instant_ns);
  }
  void begin() {
    clock_ = {};
    limit_ = any_wall_clock_window(rng());
    state_ = fresh_state(limit_, clock_.instant_ns);
  }
  // When the window began that was entered last.
  int64_t start_ns() const {
    if (limit_.zone == nullptr) return state_.words[0];
    return window_of_date(calendar_of(limit_), state_.words[0]).window.start_ns;
  }
  Rng& rng() { return seeded_.rng; }

  Seeded seeded_;
  Steps clock_;
  Limit limit_;
  State state_;
};

// A window that was left does not begin again before a unit has passed by instants since it was
// entered: in that time nobody gets its count twice, whatever the wall clock says.
TEST_F(Lives, NoWindowIsHandedOutTwice) {
  int64_t went_back = 0;
  for (int life = 0; life < 3'000; ++life) {
    begin();
    std::map<int64_t, int64_t> entered_ns;  // by their starts
    for (int step = 0; step < 60; ++step) {
      happen();
      if (rng().one_in(3)) restart();
      const int64_t used_before = state_.words[1];
      const int64_t cost = rng().between(1, limit_.count);
      if (!take(cost)) continue;
      const int64_t start_ns = state_.words[0], used = state_.words[1];
      ASSERT_LE(used, limit_.count);
      if (used == used_before + cost && used_before > 0) continue;
      ASSERT_EQ(used, cost);
      if (const auto before = entered_ns.find(start_ns); before != entered_ns.end()) {
        ASSERT_GE(clock_.instant_ns - before->second, limit_.period_ns)
            << describe(limit_) << " step " << step;
      }
      entered_ns[start_ns] = clock_.instant_ns;
      went_back += entered_ns.rbegin()->first != start_ns;
    }
  }
  EXPECT_GT(went_back, 100);
}

TEST_F(Lives, NoWaitIsLongerThanTwoUnitsAndEachIsRight) {
  int64_t waited = 0;
  for (int life = 0; life < 3'000; ++life) {
    begin();
    for (int step = 0; step < 30; ++step) {
      happen();
      const int64_t cost = rng().between(1, limit_.count);
      const Verdict verdict = decide(limit_, state_, request(cost));
      if (verdict.allowed) continue;
      const int64_t longest_ns = 2 * limit_.period_ns + (limit_.zone ? kTameJumpNs : 0);
      ASSERT_LE(verdict.retry_after_ns, longest_ns) << describe(limit_);
      if (!rng().one_in(4)) continue;
      ++waited;
      clock_.pass(verdict.retry_after_ns - 1);
      ASSERT_FALSE(peek(limit_, state_, request(cost)).allowed) << describe(limit_);
      clock_.pass(1);
      ASSERT_TRUE(take(cost)) << describe(limit_);
    }
  }
  EXPECT_GT(waited, 1'000);
}

TEST_F(Lives, WhatIsForgottenIsNotMissed) {
  for (int life = 0; life < 3'000; ++life) {
    begin();
    for (int step = 0; step < 30; ++step) {
      happen();
      (void)take(rng().between(1, limit_.count));
    }
    const int64_t expires_ns = limit_.algorithm->expires_at_ns(limit_, state_);
    clock_.pass(std::max<int64_t>(0, expires_ns - clock_.instant_ns));
    State fresh = fresh_state(limit_, clock_.instant_ns);
    const Request all = request(limit_.count);
    ASSERT_EQ(decide(limit_, fresh, all), decide(limit_, state_, all)) << describe(limit_);
    ASSERT_EQ(bytes_of(limit_, fresh), bytes_of(limit_, state_));
  }
}

TEST_F(Lives, AResetEndsWhatLiesAhead) {
  for (int life = 0; life < 3'000; ++life) {
    begin();
    for (int step = 0; step < 30; ++step) {
      happen();
      (void)take(rng().between(1, limit_.count));
    }
    const bool ahead = start_ns() > clock_.wall_ns();
    const Verdict before = peek(limit_, state_, request(0));
    clock_.reset();
    const Verdict after = peek(limit_, state_, request(0));
    ASSERT_EQ(after.remaining, ahead ? limit_.count : before.remaining) << describe(limit_);
  }
}

// Without a lead a state has the bytes that it always had.
TEST(FixedOnDisk, ALeadIsWrittenOnlyWhereThereIsOne) {
  const Limit limit = make_limit(calendar_spec(5, {.unit = CalendarUnit::kDay})).value();
  const WallClock wall{.lead_ns = 3 * kNsPerHour};
  State plain, led;
  decide(limit, plain, {.now_ns = kStartNs});
  decide(limit, led, {.now_ns = kStartNs, .wall = &wall});
  EXPECT_EQ(bytes_of(limit, led).size(), bytes_of(limit, plain).size() + 7);
  const std::string bytes = bytes_of(limit, led);
  for (size_t cut = 1; cut <= 15; ++cut) {
    LimitState read;
    EXPECT_FALSE(
        read_record(std::string_view(bytes).substr(0, bytes.size() - cut), {&read, 1}).ok());
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
