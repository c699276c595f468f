// What FORCE takes, for any algorithm whose debt is counted in permits.
#pragma once

#include "tests/algorithms/life.h"

namespace weir::algorithms::testing {

// Permits taken by FORCE beyond what is left are owed, exact to the permit; nothing is granted
// until they are back, exact to the nanosecond.
inline void force_takes_exactly(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const auto rest = [&] {
      return life.ask(0).remaining -
             owed(life.limit, life.state, {.now_ns = life.now_ns, .entries = &life.entries});
    };
    for (int i = 0; i < 3; ++i) {
      Request forced = life.request(life.rng.any_magnitude(1, 2 * life.limit.capacity));
      forced.force = true;
      const int64_t before = rest();
      const Verdict verdict = decide(life.limit, life.state, forced);
      if (!verdict.allowed) {
        ASSERT_EQ(verdict.retry_after_ns, kNever);  // more than a state can hold
        ASSERT_EQ(rest(), before);
        return;
      }
      ASSERT_EQ(rest(), before - forced.cost);
      const Verdict next = life.ask(1);
      ASSERT_EQ(next.allowed, before - forced.cost >= 1);
      if (next.allowed) continue;
      ASSERT_TRUE(life.ask(1, next.retry_after_ns).allowed);
      ASSERT_FALSE(life.ask(1, next.retry_after_ns - 1).allowed);
    }
  });
}

}  // namespace weir::algorithms::testing
