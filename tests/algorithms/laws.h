// The laws of the family as seeded properties, for any algorithm. An algorithm's test names a
// Subject and calls those that apply to it, one TEST each.
//
// Nothing here knows how an algorithm works: limits come from the Subject, verdicts are held
// against arithmetic of this file's own. Laws 5 and 10 are here as far as a pure function can
// break them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/take_all.h"
#include "algorithms/wide.h"
#include "tests/algorithms/life.h"
#include "tests/algorithms/test_zones.h"

namespace weir::algorithms::testing {

// --- law 1 -----------------------------------------------------------------------------------

// taken <= capacity + elapsed * count / period < taken + 1, by cross-multiplication.
inline void expect_greedy_bound(const Limit& limit, int128 taken, int128 elapsed_ns) {
  const int128 earned = (taken - limit.capacity) * limit.period_ns;
  ASSERT_TRUE(earned <= elapsed_ns * limit.count) << "too many after " << int64_t(elapsed_ns);
  ASSERT_TRUE(elapsed_ns * limit.count < earned + limit.period_ns)
      << "too few after " << int64_t(elapsed_ns);
}

// Literally at every instant: for limits so fast that something happens within `instants`. Now
// and then a permit that was taken is given back and taken again.
inline void greedy_bound_every_nanosecond(const Limit& limit, Rng& rng, int instants) {
  const int64_t start_ns = rng.any_magnitude(0, kLatestNs);
  State state = fresh_state(limit, start_ns);
  int64_t net = 0;
  for (int64_t elapsed_ns = 0; elapsed_ns < instants; ++elapsed_ns) {
    const Request one{.now_ns = start_ns + elapsed_ns};
    const auto most = limit.capacity + int128{elapsed_ns} * limit.count / limit.period_ns;
    while (net <= most && decide(limit, state, one).allowed) ++net;
    expect_greedy_bound(limit, net, elapsed_ns);
    if (::testing::Test::HasFatalFailure()) return;
    if (limit.capacity > 1 && rng.one_in(16)) {  // less than two are there: nothing is clamped
      refund(limit, state, {.now_ns = one.now_ns, .permits = 1});
      ASSERT_TRUE(decide(limit, state, one).allowed);
    }
  }
}

// INTERVAL refill: capacity + min(capacity, count) * floor(elapsed / period), cost 1 offered at
// every instant from `start_ns` on where the bound or the grid may move.
inline void interval_bound(const Limit& limit, int64_t start_ns, int refills) {
  State state = fresh_state(limit, start_ns);
  const int64_t helping = std::min(limit.capacity, limit.count);
  ASSERT_TRUE(decide(limit, state, {.now_ns = start_ns, .cost = limit.capacity}).allowed);
  for (int64_t n = 1; n <= refills && limit.period_ns <= (kLatestNs - start_ns) / n; ++n) {
    const int64_t due_ns = start_ns + n * limit.period_ns;
    ASSERT_FALSE(decide(limit, state, {.now_ns = due_ns - limit.period_ns + 1}).allowed) << n;
    ASSERT_FALSE(decide(limit, state, {.now_ns = due_ns - 1}).allowed) << n;
    ASSERT_EQ(peek(limit, state, due_ns, 0).remaining, helping);
    for (int64_t i = 0; i < std::min<int64_t>(helping, 3) - 1; ++i) {
      ASSERT_TRUE(decide(limit, state, {.now_ns = due_ns}).allowed) << n;
    }
    const int64_t left = peek(limit, state, due_ns, 0).remaining;
    ASSERT_TRUE(decide(limit, state, {.now_ns = due_ns, .cost = left}).allowed) << n;
    ASSERT_FALSE(decide(limit, state, {.now_ns = due_ns}).allowed) << n;
  }
}

// At the only instants where the bound moves: the n-th permit after the burst is due at
// ceil(n * period / count), and not one nanosecond earlier. REQUIRES: 2 * count <= period_ns, else
// two permits may be due at neighbouring instants.
inline void greedy_bound_at_each_step(const Limit& limit, int64_t start_ns, int steps) {
  State state = fresh_state(limit, start_ns);
  ASSERT_TRUE(decide(limit, state, {.now_ns = start_ns, .cost = limit.capacity}).allowed);
  for (int64_t n = 1; n <= steps; ++n) {
    const int128 due = (int128{n} * limit.period_ns + limit.count - 1) / limit.count;
    if (due > kInstantNsMax - start_ns) return;
    const int64_t due_ns = start_ns + static_cast<int64_t>(due);
    ASSERT_FALSE(decide(limit, state, {.now_ns = due_ns - 1}).allowed) << "permit " << n;
    ASSERT_TRUE(decide(limit, state, {.now_ns = due_ns}).allowed) << "permit " << n;
    expect_greedy_bound(limit, int128{limit.capacity} + n, due);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Years of it: what remains is taken before the bucket can be full again, cost 1 by law 7.
inline void greedy_bound_over_years(const Limit& limit, Rng& rng, int64_t years) {
  const int64_t start_ns = rng.any_magnitude(0, kLatestNs / 2);
  const int64_t span_ns = years * 365 * kNsPerDay;
  State state = fresh_state(limit, start_ns);
  int128 taken = 0;
  for (int64_t elapsed_ns = 0; elapsed_ns < span_ns;) {
    const int64_t now_ns = start_ns + elapsed_ns;
    const int64_t remaining = peek(limit, state, now_ns, 0).remaining;
    ASSERT_TRUE(remaining == 0 ||
                decide(limit, state, {.now_ns = now_ns, .cost = remaining}).allowed);
    ASSERT_FALSE(peek(limit, state, now_ns, 1).allowed);
    taken += remaining;
    expect_greedy_bound(limit, taken, elapsed_ns);
    if (::testing::Test::HasFatalFailure()) return;
    elapsed_ns += rng.between(1, std::max<int64_t>(1, peek(limit, state, now_ns, 0).reset_after_ns -
                                                          limit.period_ns / limit.count - 1));
  }
}

// --- law 2 -----------------------------------------------------------------------------------

inline void retry_is_a_promise(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const int64_t cost = std::max<int64_t>(1, life.any_cost());
    const Verdict now = life.ask(cost);
    if (now.allowed) {
      ASSERT_EQ(now.retry_after_ns, 0);
      return;
    }
    ASSERT_NE(now.retry_after_ns, kNever);
    ASSERT_GT(now.retry_after_ns, 0);
    ASSERT_TRUE(life.ask(cost, now.retry_after_ns).allowed);
    const Verdict too_soon = life.ask(cost, now.retry_after_ns - 1);
    ASSERT_FALSE(too_soon.allowed);
    ASSERT_EQ(too_soon.retry_after_ns, 1);
  });
}

// The same for reset_after, and for remaining: it can be taken, and not one more.
inline void reset_and_remaining_are_promises(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const Verdict now = life.ask(0);
    ASSERT_TRUE(now.remaining == 0 || life.ask(now.remaining).allowed);
    ASSERT_FALSE(life.ask(now.remaining + 1).allowed);
    const Verdict full = life.ask(0, now.reset_after_ns);
    ASSERT_EQ(full.remaining, life.limit.capacity);
    ASSERT_EQ(full.reset_after_ns, 0);
    if (now.reset_after_ns > 0) {
      ASSERT_EQ(life.ask(0, now.reset_after_ns - 1).reset_after_ns, 1);
    }
  });
}

// --- law 3 -----------------------------------------------------------------------------------

inline void denied_or_free_changes_nothing(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const std::string before = life.bytes();
    Request peek_only = life.request(life.any_cost());
    peek_only.peek = true;
    ASSERT_FALSE(decide(life.limit, life.state, peek_only).changed);
    ASSERT_EQ(life.bytes(), before) << "peek";
    ASSERT_FALSE(life.take(0).changed);
    ASSERT_TRUE(life.take(0).allowed);
    ASSERT_EQ(life.bytes(), before) << "cost 0";
    const Verdict verdict = life.take(std::min(life.limit.capacity, life.last.remaining + 1));
    ASSERT_EQ(verdict.changed, verdict.allowed);
    ASSERT_EQ(life.bytes() == before, !verdict.allowed);
  });
}

// --- law 4 -----------------------------------------------------------------------------------

inline void more_than_capacity_is_never(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const std::string before = life.bytes();
    const int64_t above[] = {life.limit.capacity + 1, kCostMax + 1,
                             std::numeric_limits<int64_t>::max()};
    const Verdict plain = life.ask(0);
    const Verdict verdict = life.take(life.rng.pick(above));
    ASSERT_FALSE(verdict.allowed);
    ASSERT_EQ(verdict.retry_after_ns, kNever);
    ASSERT_EQ(verdict.remaining, plain.remaining);
    ASSERT_EQ(verdict.reset_after_ns, plain.reset_after_ns);
    ASSERT_EQ(life.bytes(), before);
  });
}

// --- law 5 (what is left of it without a clock) ----------------------------------------------

inline void a_clock_set_back_gives_nothing(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const int64_t remaining = life.ask(0).remaining;
    life.now_ns = life.rng.between(0, life.now_ns);
    ASSERT_LE(life.ask(0).remaining, remaining);
  });
}

// --- law 6 -----------------------------------------------------------------------------------

// No later verdict can tell the two apart, whatever their bytes are.
inline void expect_same_future(const Life& a, const Life& b, Rng& rng) {
  for (int i = 0; i < 4; ++i) {
    const int64_t wait_ns = rng.any_magnitude(0, a.ask(0).reset_after_ns + 1);
    const int64_t cost = rng.any_magnitude(0, a.limit.capacity);
    ASSERT_EQ(a.ask(cost, wait_ns), b.ask(cost, wait_ns)) << "cost " << cost << " in " << wait_ns;
  }
}

inline void refunds_are_clamped_at_full(const Subject& subject) {
  for_random_lives(subject, [&subject](Life& life) {
    const Life before = life;
    const int64_t cost = std::max<int64_t>(1, life.any_cost());
    const Verdict plain = life.ask(0);
    if (life.take(cost).allowed) {
      const Verdict back = life.give_back(cost);
      ASSERT_EQ(back.remaining, plain.remaining);
      ASSERT_EQ(back.reset_after_ns, plain.reset_after_ns);
      if (plain.reset_after_ns > 0) expect_same_future(life, before, life.rng);
    }
    const int64_t permits = life.rng.any_magnitude(0, kCostMax);
    const int64_t room = life.limit.capacity - life.ask(0).remaining;
    const Verdict some = life.ask(0);
    const Verdict more = life.give_back(permits);
    if (subject.refunds_whole) {
      ASSERT_EQ(more.remaining, permits < room ? some.remaining + permits : life.limit.capacity);
    }
    ASSERT_EQ(more.changed, permits > 0 && some.reset_after_ns > 0);
    const Verdict all = life.give_back(2 * kCostMax);
    ASSERT_EQ(all.remaining, life.limit.capacity);
    ASSERT_EQ(all.reset_after_ns, 0);
    ASSERT_FALSE(life.give_back(life.any_cost()).changed);
    ASSERT_FALSE(life.ask(life.limit.capacity + 1).allowed);
  });
}

// --- law 7 -----------------------------------------------------------------------------------

inline void split_or_whole(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    const int64_t whole = life.any_cost();
    const int64_t part = life.rng.between(0, whole);
    if (!life.ask(whole).allowed) return;
    Life other = life;
    const Verdict one = life.take(whole);
    ASSERT_TRUE(other.take(part).allowed);
    const Verdict two = other.take(whole - part);
    ASSERT_TRUE(two.allowed);
    ASSERT_EQ(one.remaining, two.remaining);
    ASSERT_EQ(one.reset_after_ns, two.reset_after_ns);
    ASSERT_EQ(life.bytes(), other.bytes());
  });
}

// --- law 8 -----------------------------------------------------------------------------------

inline void all_or_nothing(const Subject& subject) {
  for_random_lives(subject, [&subject](Life& life) {
    std::vector<Life> lives(static_cast<size_t>(life.rng.between(1, 4)), life);
    std::vector<Guard> guards;
    std::vector<Verdict> alone;
    std::vector<std::string> before;
    bool all = true;
    for (Life& each : lives) {
      each.limit = subject.random_limit(life.rng);
      each.state = fresh_state(each.limit, each.now_ns);
      each.entries = {};
      each.take(each.any_cost());
      const int64_t cost = each.any_cost() + each.rng.one_in(20) * each.limit.capacity;
      guards.push_back(
          {.limit = &each.limit, .state = &each.state, .entries = &each.entries, .cost = cost});
      alone.push_back(each.ask(cost));
      before.push_back(each.bytes());
      all = all && alone.back().allowed;
    }
    const AllVerdict verdict = take_all(guards, {.now_ns = life.now_ns, .lease_id = 1'000});
    ASSERT_EQ(verdict.allowed, all);
    for (size_t i = 0; i < lives.size(); ++i) {
      if (!all && alone[i].allowed) alone[i] = lives[i].ask(0);  // nothing was taken from it
      alone[i].changed = all && guards[i].cost > 0;
      ASSERT_EQ(guards[i].verdict, alone[i]);
      ASSERT_EQ(lives[i].bytes() == before[i], !all || guards[i].cost == 0);
      const Verdict& deciding = alone[verdict.deciding];
      if (all) {
        ASSERT_LE(deciding.remaining + (i < verdict.deciding), alone[i].remaining);
      } else {
        ASSERT_GE(deciding.retry_after_ns - (i < verdict.deciding), alone[i].retry_after_ns);
      }
    }
  });
}

// --- law 9 -----------------------------------------------------------------------------------

// Asked and given any 64-bit numbers at any instant, a limiter answers within its ranges.
inline void works_at_every_instant(const Limit& limit, Rng& rng) {
  const int64_t instants[] = {0, kInstantNsMax, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max(), rng.between(0, kInstantNsMax)};
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto permits = [&] {
    return rng.one_in(8) ? most : rng.any_magnitude(0, rng.one_in(2) ? kCostMax : most);
  };
  State state = fresh_state(limit, rng.pick(instants));
  MapEntries entries;
  for (int i = 0; i < 8; ++i) {
    const Request request{.now_ns = rng.pick(instants),
                          .cost = permits(),
                          .force = rng.one_in(2),
                          .entries = &entries,
                          .lease_id = i + 1};
    const Verdict verdict = decide(limit, state, request);
    ASSERT_GE(verdict.remaining, 0);
    ASSERT_LE(verdict.remaining, limit.capacity);
    ASSERT_GE(verdict.retry_after_ns, 0);
    ASSERT_GE(verdict.reset_after_ns, 0);
    refund(limit, state, {.now_ns = rng.pick(instants), .permits = permits(), .entries = &entries});
    if (!can_reserve(limit)) continue;
    const Booking booking =
        reserve(limit, state, {.now_ns = rng.pick(instants), .cost = permits()});
    ASSERT_GE(booking.wait_ns, 0);
    ASSERT_TRUE(!booking.granted || booking.wait_ns != kNever);
  }
}

// Any 64-bit numbers: refused with a reason that names them, or they work at every instant.
inline void overflow_is_impossible(const Algorithm& algorithm, int rounds) {
  Seeded seeded;
  const int64_t ends[] = {std::numeric_limits<int64_t>::min(),
                          -1,
                          0,
                          1,
                          2,
                          kCapacityMax,
                          kCapacityMax + 1,
                          kPeriodNsMin,
                          kPeriodNsMin - 1,
                          kPeriodNsMax,
                          kPeriodNsMax + 1,
                          kNsPerS,
                          std::numeric_limits<int64_t>::max()};
  const auto number = [&] {
    return seeded.rng.one_in(3) ? seeded.rng.pick(ends) : seeded.rng.any_magnitude(0, kPeriodNsMax);
  };
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    const LimitSpec spec{
        .algorithm = &algorithm, .count = number(), .period_ns = number(), .capacity = number()};
    const auto limit = make_limit(spec);
    const bool in_range = spec.period_ns >= kPeriodNsMin && spec.period_ns <= kPeriodNsMax &&
                          spec.count >= 1 && spec.count <= spec.period_ns && spec.capacity >= 1 &&
                          spec.capacity <= kCapacityMax &&
                          int128{spec.capacity} * spec.period_ns <= int128{kFillNsMax} * spec.count;
    ASSERT_EQ(limit.ok(), in_range);
    if (!limit) {
      ASSERT_NE(limit.error().text().find(" must be "), std::string::npos);
      continue;
    }
    SCOPED_TRACE(describe(*limit));
    works_at_every_instant(*limit, seeded.rng);
  }
}

// --- law 10 ----------------------------------------------------------------------------------

// Written and read back, or forgotten once expired: no later verdict can tell; and every state has
// an end. Where a new limiter is not full, it grants no more than the one that was forgotten.
inline void restart_is_invisible(const Subject& subject) {
  for_random_lives(subject, [](Life& life) {
    LimitState read;
    const auto count = read_record(life.record(), {&read, 1}, &test_zones());
    ASSERT_TRUE(count.ok());
    ASSERT_TRUE(same_limit(read.limit, life.limit));
    const int64_t wait_ns = life.rng.any_magnitude(0, life.last.reset_after_ns + 1);
    const int64_t cost = life.any_cost();
    ASSERT_EQ(peek(read.limit, read.state, life.now_ns + wait_ns, cost, &life.entries),
              life.ask(cost, wait_ns));

    const int64_t expires_at_ns = life.limit.algorithm->expires_at_ns(life.limit, life.state);
    ASSERT_LT(expires_at_ns, kNever);
    if (expires_at_ns > kInstantNsMax) return;
    life.now_ns = std::max(life.now_ns, expires_at_ns);
    Life anew = life;
    anew.state = fresh_state(life.limit, life.now_ns);
    anew.entries = {};
    const bool starts_full =
        anew.limit.algorithm->expires_at_ns(anew.limit, anew.state) <= anew.now_ns;
    const Verdict taken = anew.take(cost);
    if (!starts_full) {
      const Verdict kept = life.take(cost);
      ASSERT_TRUE(kept.allowed || !taken.allowed);
      if (kept.allowed == taken.allowed) {
        ASSERT_LE(taken.remaining, kept.remaining);
      }
      return;
    }
    ASSERT_EQ(life.take(cost), taken);
    if (taken.changed) {
      ASSERT_EQ(life.bytes(), anew.bytes());
    }
  });
}

}  // namespace weir::algorithms::testing
