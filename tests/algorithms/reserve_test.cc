// Bookings: the wait is exact, a refusal takes nothing, giving back undoes. For every algorithm
// that has them.
#include "tests/algorithms/laws.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

LimitSpec booked_spec(std::string_view algorithm, int64_t capacity) {
  return {.algorithm = find_algorithm(algorithm),
          .count = 1,
          .period_ns = 10 * kSecond,
          .capacity = capacity};
}

// Full at first where that depends on an option.
Limit any_bucket(std::string_view algorithm, Rng& rng) {
  LimitSpec spec = booked_spec(algorithm, 1);
  const Limit rate = any_limit(*spec.algorithm, rng);
  spec.count = rate.count;
  spec.period_ns = rate.period_ns;
  spec.capacity = rate.capacity;
  if (spec.algorithm->options_used > 0) spec.options[0] = spec.capacity;
  return make_limit(spec).value();
}

TEST(Reserve, WhoHasIt) {
  EXPECT_TRUE(can_reserve(make_limit(booked_spec("GCRA", 5)).value()));
  EXPECT_TRUE(can_reserve(make_limit(booked_spec("TOKENBUCKET", 5)).value()));
  EXPECT_TRUE(can_reserve(make_limit(booked_spec("LEAKY", 5)).value()));
  LimitSpec interval = booked_spec("TOKENBUCKET", 5);
  interval.options = {5, 1};
  EXPECT_FALSE(can_reserve(make_limit(interval).value()));
}

TEST(Reserve, ABucketGoesIntoDebt) {
  for (const std::string_view algorithm : {"GCRA", "TOKENBUCKET"}) {
    LimitSpec spec = booked_spec(algorithm, 3);
    if (spec.algorithm->options_used > 0) spec.options[0] = 3;
    const Limit limit = make_limit(spec).value();
    State state = fresh_state(limit, kStartNs);
    const auto book = [&](int64_t at_ns, int64_t cost, int64_t max_wait_ns = kNever) {
      return reserve(limit, state,
                     {.now_ns = kStartNs + at_ns, .cost = cost, .max_wait_ns = max_wait_ns});
    };
    EXPECT_EQ(book(0, 2), (Booking{true, 0, true}));
    EXPECT_EQ(book(0, 2), (Booking{true, 10 * kSecond, true}));
    EXPECT_EQ(book(0, 3), (Booking{true, 40 * kSecond, true}));
    EXPECT_EQ(book(0, 4), (Booking{false, kNever, false}));
    EXPECT_EQ(book(0, 0), (Booking{true, 0, false}));
    EXPECT_EQ(book(5 * kSecond, 1, 45 * kSecond - 1), (Booking{false, 45 * kSecond, false}));
    EXPECT_EQ(book(5 * kSecond, 1, 45 * kSecond), (Booking{true, 45 * kSecond, true}));
    // Whoever only takes comes after all of them.
    EXPECT_EQ(peek(limit, state, kStartNs + 5 * kSecond, 1).retry_after_ns, 55 * kSecond);
    refund(limit, state, {.now_ns = kStartNs + 5 * kSecond, .permits = 1});
    EXPECT_EQ(peek(limit, state, kStartNs + 5 * kSecond, 1).retry_after_ns, 45 * kSecond);
  }
}

// The wait is what a take would have to wait, to the nanosecond; after it nothing is owed.
TEST(Reserve, TheWaitIsExact) {
  for (const std::string_view algorithm : {"GCRA", "TOKENBUCKET"}) {
    Seeded seeded;
    for (int round = 0; round < 2'000 && !HasFailure(); ++round) {
      Life life(any_bucket(algorithm, seeded.rng), seeded.rng);
      SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
      life.live(static_cast<int>(seeded.rng.between(0, 8)));
      for (int booking = 0; booking < 3; ++booking) {
        const int64_t cost = std::max<int64_t>(1, life.any_cost());
        const Verdict plain = life.ask(cost);
        const std::string before = life.bytes();
        const Reserve wanted{.now_ns = life.now_ns, .cost = cost};
        const Life unbooked = life;
        const Booking booked = reserve(life.limit, life.state, wanted);
        if (!booked.granted) {  // more than is ever owed
          ASSERT_EQ(booked, (Booking{false, kNever, false}));
          ASSERT_EQ(life.bytes(), before);
          break;
        }
        ASSERT_EQ(booked, (Booking{true, plain.retry_after_ns, true}));
        if (booked.wait_ns > 0) {
          Life impatient = unbooked;
          Reserve sooner = wanted;
          sooner.max_wait_ns = booked.wait_ns - 1;
          ASSERT_EQ(reserve(impatient.limit, impatient.state, sooner),
                    (Booking{false, booked.wait_ns, false}));
          ASSERT_EQ(impatient.bytes(), before);
        }
        Life cancelled = life;
        cancelled.give_back(cost);
        if (plain.reset_after_ns > 0) expect_same_future(cancelled, unbooked, seeded.rng);
        // Covered at the end of the wait: one permit more is due an interval later, not before.
        if (booked.wait_ns > 0) {
          const int64_t next_ns = life.ask(1, booked.wait_ns).retry_after_ns;
          ASSERT_LE(next_ns, life.limit.interval_ns + 1);
          ASSERT_GE(next_ns, life.limit.interval_ns - (life.limit.interval_ns > 0));
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
