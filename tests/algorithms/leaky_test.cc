// LEAKY against tables derived by hand, as a meter and as a queue.
#include "tests/algorithms/limits.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

TEST(Leaky, AsAMeter) {
  expect_table(leaky(3, 1, 10 * kSecond),
               {
                   {0, 2, {true, 3, 1, 0, 20 * kSecond, true}},
                   {5 * kSecond, 2, {false, 3, 1, 5 * kSecond, 15 * kSecond, false}},
                   {10 * kSecond - 1, 2, {false, 3, 1, 1, 10 * kSecond + 1, false}},
                   {10 * kSecond, 2, {true, 3, 0, 0, 30 * kSecond, true}},
                   {10 * kSecond, 4, {false, 3, 0, kNever, 30 * kSecond, false}},
                   {15 * kSecond, -1, {true, 3, 1, 0, 15 * kSecond, true}},
                   {30 * kSecond - 1, 0, {true, 3, 2, 0, 1, false}},
                   {30 * kSecond, 0, {true, 3, 3, 0, 0, false}},
               });
}

// A third of a permit runs out in 111,111,111 1/9 ns: no fraction is dropped on the way.
TEST(Leaky, AskedOftenItStillRunsOut) {
  const Limit limit = leaky(1, 3, kSecond);
  State state = fresh_state(limit, kStartNs);
  int64_t taken = 0;
  for (int64_t at_ns = 0; at_ns <= kSecond; at_ns += kSecond / 1'000) {
    taken += decide(limit, state, {.now_ns = kStartNs + at_ns}).allowed;
  }
  EXPECT_EQ(taken, 3);  // at 0, 334 and 668 ms; the one due at 1001.33 ms is not
}

struct Queued {
  int64_t at_ns;
  int64_t cost;
  Booking expected;
  int64_t max_wait_ns = kNever;
};

void expect_queue(const Limit& limit, const std::vector<Queued>& rows) {
  State state = fresh_state(limit, kStartNs);
  for (const Queued& row : rows) {
    const Booking booking =
        reserve(limit, state,
                {.now_ns = kStartNs + row.at_ns, .cost = row.cost, .max_wait_ns = row.max_wait_ns});
    EXPECT_EQ(booking.granted, row.expected.granted) << "at " << row.at_ns;
    EXPECT_EQ(booking.wait_ns, row.expected.wait_ns) << "at " << row.at_ns;
    EXPECT_EQ(booking.changed, row.expected.changed) << "at " << row.at_ns;
  }
}

// The example at the head of leaky.cc: departures at 10, 20, 30, 40.
TEST(Leaky, AsAQueue) {
  expect_queue(leaky(3, 1, 10 * kSecond), {
                                              {0, 1, {true, 10 * kSecond, true}},
                                              {0, 1, {true, 20 * kSecond, true}},
                                              {0, 1, {true, 30 * kSecond, true}},
                                              {0, 1, {false, 10 * kSecond, false}},
                                              {5 * kSecond, 1, {false, 5 * kSecond, false}},
                                              {10 * kSecond - 1, 1, {false, 1, false}},
                                              {10 * kSecond, 1, {true, 30 * kSecond, true}},
                                              {10 * kSecond, 0, {true, 0, false}},
                                              {10 * kSecond, 4, {false, kNever, false}},
                                          });
}

TEST(Leaky, AQueueRefusesALongerWaitThanWanted) {
  const Limit limit = leaky(3, 1, 10 * kSecond);
  expect_queue(limit, {
                          {0, 2, {true, 20 * kSecond, true}, 20 * kSecond},
                          {1, 1, {false, 30 * kSecond - 1, false}, 30 * kSecond - 2},
                          {1, 1, {true, 30 * kSecond - 1, true}, 30 * kSecond - 1},
                      });
}

// However arrivals bunch, what leaves is a permit's time apart: exact to a nanosecond's rounding.
TEST(Leaky, DeparturesNeverBunch) {
  Seeded seeded;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const Limit limit = leaky(seeded.rng.between(1, 20), seeded.rng.between(1, 1'000),
                              seeded.rng.any_magnitude(kPeriodNsMin, kNsPerDay));
    State state = fresh_state(limit, kStartNs);
    int64_t now_ns = kStartNs, left_at_ns = 0;
    for (int step = 0; step < 60; ++step) {
      now_ns += seeded.rng.any_magnitude(0, 3 * limit.interval_ns + 1);
      const int64_t cost = seeded.rng.between(1, 3);
      const Booking booking = reserve(limit, state, {.now_ns = now_ns, .cost = cost});
      if (!booking.granted) continue;
      if (left_at_ns > 0) {
        const int64_t between_ns = now_ns + booking.wait_ns - left_at_ns;
        ASSERT_GE(between_ns, limit.rate_period_ns * cost / limit.rate_count - 1);
      }
      left_at_ns = now_ns + booking.wait_ns;
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
