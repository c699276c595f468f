// Several limits at once: charged together or not at all, entries included; who speaks for the
// whole; UPTO, FORCE and a peek.
#include "algorithms/take_all.h"

#include "algorithms/concurrency.h"
#include "algorithms/gcra.h"
#include "algorithms/limit_text.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms {
extern const Algorithm algorithm_bursty;
}

namespace weir::algorithms::testing {
namespace {

struct Held {
  Limit limit;
  State state = {};
  MapEntries entries = {};
};

// A log of 5 per 10 s, a window of 10 per minute from the first take, and 3 leases of 30 s.
struct Three {
  Held log{windowed(algorithm_sliding_log, 5, 10 * kSecond)};
  Held window{windowed(algorithm_fixed, 10, 60 * kSecond, {kAlignFirst, 0})};
  Held pool{windowed(algorithm_concurrency, 3, 30 * kSecond)};
  std::vector<Guard> guards;
  int64_t lease_id = 0;

  AllVerdict take(int64_t after_ns, std::array<int64_t, 3> costs, AllRequest request = {}) {
    guards.clear();
    for (Held* held : {&log, &window, &pool}) {
      guards.push_back({.limit = &held->limit,
                        .state = &held->state,
                        .entries = &held->entries,
                        .cost = costs[guards.size()]});
    }
    request.now_ns = kStartNs + after_ns;
    request.lease_id = ++lease_id;
    return take_all(guards, request);
  }
  std::string bytes() const {
    std::string all;
    for (const Held* held : {&log, &window, &pool}) {
      all += bytes_of(held->limit, held->state) + held->entries.text();
    }
    return all;
  }
};

TEST(TakeAll, AllAreChargedOrNone) {
  Three three;
  AllVerdict all = three.take(0, {2, 2, 2});
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(all.deciding, 2u);  // one lease is left, the least
  EXPECT_EQ(three.guards[0].verdict.remaining, 3);
  EXPECT_EQ(three.guards[1].verdict.remaining, 8);
  EXPECT_EQ(three.pool.entries.find(1)->permits, 2);

  const std::string before = three.bytes();
  all = three.take(kSecond, {1, 1, 2});
  EXPECT_FALSE(all.allowed);
  EXPECT_EQ(all.deciding, 2u);
  EXPECT_EQ(three.bytes(), before);
  EXPECT_TRUE(three.guards[0].verdict.allowed);
  EXPECT_FALSE(three.guards[0].verdict.changed);
  EXPECT_EQ(three.guards[2].verdict.retry_after_ns, 29 * kSecond);
}

TEST(TakeAll, WhoWouldHaveGrantedShowsWhatThereWasBeforeADenial) {
  Three three;
  three.take(0, {2, 2, 2});
  for (const bool peek : {true, false}) {
    three.take(kSecond, {1, 3, 2}, {.peek = peek});
    EXPECT_TRUE(three.guards[1].verdict.allowed);
    EXPECT_EQ(three.guards[0].verdict.remaining, 3);
    EXPECT_EQ(three.guards[0].verdict.reset_after_ns, 9 * kSecond);
    EXPECT_EQ(three.guards[1].verdict.remaining, 8);
  }
}

TEST(TakeAll, TheLongestWaitSpeaksAndNeverIsTheLongest) {
  Three three;
  three.take(0, {5, 10, 3});
  EXPECT_EQ(three.take(kSecond, {1, 1, 1}).deciding, 1u);  // 9, 59 and 29 s
  EXPECT_EQ(three.take(kSecond, {1, 1, 4}).deciding, 2u);
  EXPECT_EQ(three.take(kSecond, {6, 1, 4}).deciding, 0u);  // a tie goes to the first
  EXPECT_EQ(three.take(kSecond, {0, 0, 0}).deciding, 0u);
  EXPECT_TRUE(three.take(kSecond, {0, 0, 0}).allowed);
}

TEST(TakeAll, UptoGrantsWhatAllHave) {
  Three three;
  AllVerdict all = three.take(0, {100, 100, 100}, {.upto = true});
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(all.granted, 3);
  EXPECT_EQ(three.guards[0].verdict.remaining, 2);
  EXPECT_EQ(three.guards[1].verdict.remaining, 7);
  all = three.take(kSecond, {100, 100, 100}, {.upto = true});
  EXPECT_FALSE(all.allowed);
  EXPECT_EQ(all.granted, 0);
  EXPECT_EQ(all.deciding, 2u);
  EXPECT_EQ(three.guards[2].verdict.retry_after_ns, 29 * kSecond);  // that for one permit
  EXPECT_TRUE(three.guards[0].verdict.allowed);
  EXPECT_TRUE(three.take(kSecond, {0, 0, 0}, {.upto = true}).allowed);
}

// BURSTY takes any cost, or none at all while it is paying for the last.
TEST(TakeAll, UptoIsNotBoundedByWhoTakesAnyCost) {
  Held log{windowed(algorithm_sliding_log, 5, 10 * kSecond)};
  Held bursty{windowed(algorithm_bursty, 1, kSecond, {kSecond, 0})};
  bursty.state = fresh_state(bursty.limit, kStartNs);
  const auto take = [&] {
    Guard guards[] = {
        {.limit = &log.limit, .state = &log.state, .entries = &log.entries, .cost = 3},
        {.limit = &bursty.limit, .state = &bursty.state, .cost = 3}};
    return take_all(guards, {.now_ns = kStartNs, .upto = true});
  };
  EXPECT_EQ(take().granted, 3);
  const AllVerdict second = take();
  EXPECT_FALSE(second.allowed);
  EXPECT_EQ(second.granted, 0);
  EXPECT_EQ(second.deciding, 1u);
  EXPECT_EQ(log.entries.size(), 1u);
}

// A bucket that starts low has to be written when it is first seen, unless waiting never helps.
TEST(TakeAll, WhatCanNeverBeGrantedMakesNoKey) {
  const auto is_written = [](const Limit& limit, int64_t cost) {
    State state = fresh_state(limit, kStartNs);
    Guard guard{.limit = &limit, .state = &state, .cost = cost};
    EXPECT_FALSE(take_all({&guard, 1}, {.now_ns = kStartNs}).allowed);
    return guard.verdict.changed;
  };
  const std::vector<std::string_view> words = {
      "TOKENBUCKET", "5/1s", "INITIAL", "0",        "TOKENBUCKET", "5/1s",
      "INITIAL",     "0",    "REFILL",  "INTERVAL", "GCRA",        "5/1s",
      "LEAKY",       "5/1s", "FIXED",   "5/1s",     "ALIGN",       "FIRST"};
  const auto limits = parse_limits(words, 0).value().limits;
  for (const Limit& limit : limits) EXPECT_FALSE(is_written(limit, 6)) << limit.algorithm->name;
  EXPECT_TRUE(is_written(limits[0], 5));
}

TEST(TakeAll, APeekChargesNothing) {
  Three three;
  const std::string before = three.bytes();
  const AllVerdict all = three.take(0, {1, 1, 1}, {.peek = true});
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(three.guards[2].verdict.remaining, 2);
  EXPECT_EQ(three.bytes(), before);
}

TEST(TakeAll, ForceGoesIntoDebt) {
  const Limit limit =
      gcra_limit_from_throttle({.max_burst = 4, .count = 1, .period_s = 10}).value();
  State state = fresh_state(limit, kStartNs);
  Guard guard{.limit = &limit, .state = &state, .cost = 8};
  const AllVerdict all = take_all({&guard, 1}, {.now_ns = kStartNs, .force = true});
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(guard.verdict.reset_after_ns, 80 * kSecond);
}

// UPTO against its definition, for limits and lives of every kind.
TEST(TakeAll, UptoIsTheLeastOfAll) {
  Seeded seeded;
  Limit (*const kinds[])(Rng&) = {any_fixed, any_sliding_log, capped_sliding_window,
                                  any_sliding_counter, any_concurrency};
  for (int round = 0; round < 1'000 && !HasFailure(); ++round) {
    Life first(seeded.rng.pick(kinds)(seeded.rng), seeded.rng);
    first.live(3);
    Life second(seeded.rng.pick(kinds)(seeded.rng), seeded.rng);
    second.now_ns = first.now_ns;
    second.take(second.any_cost());
    const int64_t n = seeded.rng.any_magnitude(0, kCostMax);
    const int64_t least = std::min({n, first.ask(0).remaining, second.ask(0).remaining});
    Guard guards[] = {
        {.limit = &first.limit, .state = &first.state, .entries = &first.entries, .cost = n},
        {.limit = &second.limit, .state = &second.state, .entries = &second.entries, .cost = n}};
    const Verdict rest = first.ask(0);
    const AllVerdict all =
        take_all(guards, {.now_ns = first.now_ns, .upto = true, .lease_id = 1'000});
    ASSERT_EQ(all.granted, least);
    ASSERT_EQ(all.allowed, least > 0 || n == 0);
    ASSERT_EQ(first.ask(0).remaining, rest.remaining - least);
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
