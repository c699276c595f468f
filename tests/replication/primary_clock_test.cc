// A primary's instants, on clocks that are wrong, step, stop and jump.
#include "storage/replication/primary_clock.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/replication/time_units.h"
#include "tests/simulation/random.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kHour = 3600 * kSecond;

// The clocks of a machine: the wall clock is `error_ns` ahead of the instants at the beginning.
struct FakeClock {
  int64_t boot_ns = 77 * kSecond;
  int64_t wall_ns = 0;

  Instants now() const { return {.boot_ns = boot_ns, .wall_ns = wall_ns}; }
  void pass(int64_t ns) {
    boot_ns += ns;
    wall_ns += ns;
  }
};

constexpr int64_t kBegin = 1'700'000'000 * kSecond;

FakeClock clock_with_error(int64_t error_ns) { return {.wall_ns = kBegin + error_ns}; }

TEST(PrimaryClock, BeginsWhereItIsTold) {
  for (const int64_t error_ns : {-kHour, int64_t{0}, kHour}) {
    FakeClock clock = clock_with_error(error_ns);
    PrimaryClock instants(kBegin, clock.now());
    EXPECT_EQ(instants.at(clock.now()), kBegin);
    EXPECT_EQ(instants.lead_ns(), -error_ns);
  }
}

TEST(PrimaryClock, GoesOnWithTheMachinesOwnTimeWhileTheWallClockIsNear) {
  FakeClock clock = clock_with_error(kMs);
  PrimaryClock instants(kBegin, clock.now());
  for (int i = 0; i < 1000; ++i) {
    clock.pass(kMs);
    EXPECT_EQ(instants.at(clock.now()), kBegin + (i + 1) * kMs);
  }
}

// 400 ms are 800 s at 500 ppm.
TEST(PrimaryClock, ApproachesTheWallClockFromBothSides) {
  for (const int64_t error_ns : {-400 * kMs, 400 * kMs}) {
    FakeClock clock = clock_with_error(error_ns);
    PrimaryClock instants(kBegin, clock.now());
    int64_t last = kBegin;
    for (int second = 1; second <= 1000; ++second) {
      clock.pass(kSecond);
      const int64_t instant = instants.at(clock.now());
      EXPECT_LE(std::abs(instant - last - kSecond), kSecond / 1'000'000 * PrimaryClock::kSlewPpm);
      last = instant;
      if (second == 400) {
        EXPECT_EQ(std::abs(instants.lead_ns()), 200 * kMs);
      }
    }
    EXPECT_EQ(std::abs(instants.lead_ns()), PrimaryClock::kLeadMaxNs) << "near enough";
  }
}

// Whoever asks every microsecond must not round the slew to nothing.
TEST(PrimaryClock, SlewsAsMuchHoweverOftenItIsAsked) {
  FakeClock often = clock_with_error(kSecond);
  FakeClock seldom = often;
  PrimaryClock asked_often(kBegin, often.now());
  PrimaryClock asked_seldom(kBegin, seldom.now());
  for (int i = 0; i < 2'000'000; ++i) {
    often.pass(1000);
    asked_often.at(often.now());
  }
  seldom.pass(2 * kSecond);
  EXPECT_NEAR(static_cast<double>(asked_often.at(often.now())),
              static_cast<double>(asked_seldom.at(seldom.now())), 1000.0);
  EXPECT_EQ(asked_seldom.at(seldom.now()), kBegin + 2 * kSecond + kMs);
}

TEST(PrimaryClock, AStepOfTheWallClockHandsOutNothingAndFreezesNothing) {
  for (const int64_t step_ns : {-kHour, kHour}) {
    FakeClock clock = clock_with_error(0);
    PrimaryClock instants(kBegin, clock.now());
    clock.pass(10 * kSecond);
    const int64_t before = instants.at(clock.now());
    clock.wall_ns += step_ns;
    EXPECT_NEAR(static_cast<double>(instants.at(clock.now()) - before), 0, 10 * kMs);
    clock.pass(kSecond);
    EXPECT_NEAR(static_cast<double>(instants.at(clock.now()) - before),
                static_cast<double>(kSecond), 10 * kMs);
  }
}

// CLOCK_BOOTTIME counts the time in which a machine is suspended; the instants do too.
TEST(PrimaryClock, ASuspendedMachineIsNotBehind) {
  FakeClock clock = clock_with_error(0);
  PrimaryClock instants(kBegin, clock.now());
  clock.pass(kHour);
  EXPECT_EQ(instants.at(clock.now()), kBegin + kHour);
}

TEST(PrimaryClock, NeverRunsBack) {
  simulation::Random random(5);
  for (int life = 0; life < 200; ++life) {
    FakeClock clock = clock_with_error(random.between(-kHour, kHour));
    PrimaryClock instants(kBegin, clock.now());
    int64_t last = kBegin;
    const int64_t first_boot_ns = clock.boot_ns;
    for (int i = 0; i < 300; ++i) {
      clock.pass(random.one_in(3) ? random.between(0, 2000) : random.between(0, 50 * kMs));
      if (random.one_in(10)) clock.wall_ns += random.between(-2 * kSecond, 2 * kSecond);
      if (random.one_in(50)) clock.boot_ns -= random.between(0, 1000);
      const int64_t instant = instants.at(clock.now());
      ASSERT_GE(instant, last);
      last = instant;
    }
    const double passed = static_cast<double>(clock.boot_ns - first_boot_ns);
    ASSERT_NEAR(static_cast<double>(last - kBegin), passed, passed / 2000 + 100'000);
  }
}

// Each new primary goes on from the newest record, up to 100 ms after it was written, and its own
// clock is wrong by 0.4 s or by an hour. What the takeovers leave behind must not add up.
TEST(PrimaryClock, AHundredTakeoversDoNotAddUp) {
  for (const int64_t error_ns : {400 * kMs, kHour}) {
    FakeClock right = clock_with_error(0);
    FakeClock wrong = clock_with_error(error_ns);
    int64_t newest = kBegin;
    for (int takeover = 0; takeover < 100; ++takeover) {
      FakeClock& mine = takeover % 2 == 0 ? right : wrong;
      PrimaryClock instants(newest, mine.now());
      for (int second = 0; second < 300; ++second) {
        right.pass(kSecond);
        wrong.pass(kSecond);
        newest = instants.at(mine.now());
      }
      right.pass(100 * kMs);
      wrong.pass(100 * kMs);
      EXPECT_GE(newest, right.wall_ns - 400 * kMs);
      EXPECT_LE(newest, wrong.wall_ns);
    }
  }
}

}  // namespace
}  // namespace weir::storage::replication
