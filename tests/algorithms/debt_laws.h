// The laws of the pair that takes on debt (BURSTY, WARMUP). Any cost passes once next_free is
// there, so some of laws.h do not apply, and some read otherwise.
#pragma once

#include "tests/algorithms/laws.h"

namespace weir::algorithms::testing {

// A request that is let in whatever was asked before; some are dear.
inline int64_t debt_cost(Life& life) {
  return std::max<int64_t>(
      1, life.rng.one_in(3) ? life.rng.any_magnitude(1, 1'000'000) : life.any_cost());
}

// A request that can ever be let in.
inline bool debt_can_be(const Life& life, int64_t cost) {
  return life.ask(cost).retry_after_ns != kNever;
}

inline void debt_retry_is_a_promise(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const int64_t cost = debt_cost(life);
    const Verdict now = life.ask(cost);
    if (now.allowed || !debt_can_be(life, cost)) return;
    ASSERT_GT(now.retry_after_ns, 0);
    ASSERT_EQ(now.remaining, 0);
    ASSERT_TRUE(life.ask(cost, now.retry_after_ns).allowed);
    const Verdict too_soon = life.ask(cost, now.retry_after_ns - 1);
    ASSERT_FALSE(too_soon.allowed);
    ASSERT_EQ(too_soon.retry_after_ns, 1);
    ASSERT_EQ(life.ask(1).retry_after_ns, now.retry_after_ns) << "the cost does not matter";
  });
}

inline void debt_reset_is_a_promise(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const Verdict now = life.ask(0);
    if (now.reset_after_ns >= kInstantNsMax - life.now_ns) return;  // after the last instant
    const Verdict full = life.ask(0, now.reset_after_ns);
    ASSERT_EQ(full.reset_after_ns, 0);
    ASSERT_LE(full.remaining, life.limit.capacity);
    ASSERT_EQ(life.ask(0, now.reset_after_ns + 1).remaining, full.remaining);
    if (now.reset_after_ns > 0) {
      ASSERT_EQ(life.ask(0, now.reset_after_ns - 1).reset_after_ns, 1);
    }
  });
}

inline void debt_denied_or_free_changes_nothing(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const std::string before = life.bytes();
    const int64_t cost = debt_cost(life);
    ASSERT_FALSE(decide(life.limit, life.state, {.now_ns = life.now_ns, .cost = cost, .peek = true})
                     .changed);
    ASSERT_EQ(life.bytes(), before) << "peek";
    ASSERT_TRUE(life.take(0).allowed);
    ASSERT_FALSE(life.take(0).changed);
    ASSERT_EQ(life.bytes(), before) << "cost 0";
    const Verdict verdict = life.take(cost);
    ASSERT_EQ(verdict.changed, verdict.allowed);
    if (!verdict.allowed) {
      ASSERT_EQ(life.bytes(), before);
    }
    ASSERT_FALSE(life.take(kCostMax + 1).changed) << "never";
  });
}

inline void debt_refunds_are_clamped(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const Verdict before = life.ask(1);
    const int64_t permits = life.rng.any_magnitude(0, kCostMax);
    const Verdict after = life.give_back(permits);
    ASSERT_EQ(after, [&] {
      Verdict zero = life.ask(0);
      zero.changed = after.changed;
      return zero;
    }()) << "the answer is the verdict of cost 0";
    ASSERT_LE(life.ask(1).retry_after_ns, before.retry_after_ns);
    ASSERT_LE(after.reset_after_ns, before.reset_after_ns);
    ASSERT_LE(after.remaining, life.limit.capacity);
    life.give_back(std::numeric_limits<int64_t>::max());
    const Verdict one = life.ask(1);
    ASSERT_TRUE(one.allowed || one.retry_after_ns == kNever);
    ASSERT_FALSE(life.give_back(1).changed);
  });
}

inline void debt_works_at_every_instant(const Subject& subject) {
  Seeded seeded;
  for (int round = 0; round < 5'000 && !::testing::Test::HasFailure(); ++round) {
    const Limit limit = subject.random_limit(seeded.rng);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(limit));
    works_at_every_instant(limit, seeded.rng);
  }
}

// A booking waits as long as a take would have to, and then lets all later ones wait longer.
inline void debt_bookings_wait(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const int64_t cost = debt_cost(life);
    const Verdict plain = life.ask(cost);
    const std::string before = life.bytes();
    const Reserve wanted{.now_ns = life.now_ns, .cost = cost};
    Reserve impatient = wanted;
    impatient.max_wait_ns = plain.retry_after_ns - 1;
    if (!plain.allowed && debt_can_be(life, cost)) {
      ASSERT_EQ(reserve(life.limit, life.state, impatient),
                (Booking{false, plain.retry_after_ns, false}));
      ASSERT_EQ(life.bytes(), before);
    }
    Life forced = life;
    const Booking booked = reserve(life.limit, life.state, wanted);
    if (!booked.granted) {
      ASSERT_EQ(booked, (Booking{false, kNever, false}));
      ASSERT_EQ(life.bytes(), before);
      return;
    }
    ASSERT_EQ(booked, (Booking{true, plain.retry_after_ns, true}));
    ASSERT_TRUE(
        decide(forced.limit, forced.state, {.now_ns = life.now_ns, .cost = cost, .force = true})
            .allowed);
    ASSERT_EQ(life.bytes(), forced.bytes());
    ASSERT_GE(life.ask(1).retry_after_ns, plain.retry_after_ns);
  });
}

}  // namespace weir::algorithms::testing
