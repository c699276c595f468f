// Whatever is given back, no window grants more than the limit's formula: the permits that were
// used after all, each taken when it was charged, are such as a new limiter of the limit grants.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/low_water.h"
#include "algorithms/settle.h"
#include "tests/algorithms/limits.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

// Instants of BURSTY are rounded to a nanosecond at each request, and a bucket of one permit may
// grant one nanosecond early (level.h, invariant 2).
constexpr int64_t kRoundedNs = 64;

struct LedgerGrant {
  int64_t at_ns = 0;
  int64_t permits = 0;  // that were used after all
  bool booked = false;  // taken into debt
};

struct Charge {
  uint64_t change = 0;
  size_t grant = 0;
  State kept;
};

// A limiter whose charges are settled and cancelled, with what whoever keeps charges does.
class Ledger {
 public:
  explicit Ledger(const Life& life) : life_(life), rng_(life.rng), begin_ns_(life.now_ns) {}

  void step() {
    if (rng_.one_in(2)) life_.pass_time();
    if (!open_.empty()) low_water_.note(changes_, used());
    if (!open_.empty() && rng_.one_in(2)) return settle();
    if (can_reserve(life_.limit) && rng_.one_in(3)) return book();
    take();
  }

  void expect_formula() const {
    const Limit& limit = life_.limit;
    Life other = life_;
    other.entries = {};
    other.state = fresh_state(limit, begin_ns_);
    for (const LedgerGrant& grant : grants_) {
      if (grant.permits == 0) continue;
      other.now_ns = grant.at_ns;
      Request request = other.request(grant.permits);
      request.force = grant.booked;
      Verdict verdict = decide(limit, other.state, request);
      if (!verdict.allowed && verdict.retry_after_ns <= kRoundedNs) {
        request.force = true;
        verdict = decide(limit, other.state, request);
      }
      ASSERT_TRUE(verdict.allowed) << &grant - grants_.data() << " of " << grants_.size() << ": "
                                   << grant.permits << " permits, " << verdict;
    }
  }

 private:
  int64_t used() const { return algorithms::used(life_.limit, life_.state, life_.now_ns); }

  void charge(const State& before, int64_t cost, bool booked) {
    grants_.push_back({.at_ns = life_.now_ns, .permits = cost, .booked = booked});
    ++changes_;
    if (!booked && rng_.one_in(3)) return;
    open_.push_back({.change = changes_,
                     .grant = grants_.size() - 1,
                     .kept = kept_state(life_.limit, before, life_.state)});
  }

  void take() {
    const State before = life_.state;
    const int64_t cost = life_.any_cost();
    if (life_.take(cost).allowed && cost > 0) charge(before, cost, false);
  }

  void book() {
    const State before = life_.state;
    const int64_t cost = std::max<int64_t>(1, life_.any_cost());
    const Booking booking =
        reserve(life_.limit, life_.state, {.now_ns = life_.now_ns, .cost = cost});
    if (booking.granted) charge(before, cost, true);
  }

  void settle() {
    const auto which = static_cast<size_t>(rng_.between(0, static_cast<int64_t>(open_.size()) - 1));
    const Charge charge = open_[which];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    LedgerGrant& grant = grants_[charge.grant];
    const int64_t left = rng_.one_in(2) ? 0 : rng_.between(0, grant.permits);
    const int64_t before = used();
    life_.last = algorithms::settle(life_.limit, life_.state,
                                    {.now_ns = life_.now_ns,
                                     .charged_at_ns = grant.at_ns,
                                     .charged = grant.permits,
                                     .kept = &charge.kept,
                                     .used = left,
                                     .low_water = low_water_.since(charge.change),
                                     .untouched = charge.change == changes_,
                                     .entries = &life_.entries});
    const int64_t came_back = std::max<int64_t>(0, before - used());
    ++changes_;
    low_water_.give_back(charge.change, came_back);
    low_water_.note(changes_, used());
    grant.permits = left;
  }

  Life life_;
  Rng& rng_;
  int64_t begin_ns_;
  std::vector<LedgerGrant> grants_;
  std::vector<Charge> open_;
  uint64_t changes_ = 0;
  LowWater low_water_;
};

Limit small_bucket(Rng& rng) {
  const std::string texts[] = {"GCRA 10/1s", "GCRA 7/3ms BURST 20", "TOKENBUCKET 10/1s CAPACITY 30",
                               "TOKENBUCKET 7/1s CAPACITY 20 INITIAL 3",
                               "LEAKY 50/1s CAPACITY 400"};
  return written(rng.pick(texts));
}
Limit small_bursty(Rng& rng) {
  const std::string texts[] = {"BURSTY 5/1s MAXBURST 3s", "BURSTY 7/3ms"};
  return written(rng.pick(texts));
}
// A window of ALIGN FIRST begins with a charge, also if nothing of that was used.
Limit fixed_of_epoch(Rng& rng) {
  Limit limit = any_fixed(rng);
  while (limit.options[0] == 0) limit = any_fixed(rng);
  return limit;
}

void keeps_to_formula(const Subject& subject) {
  Seeded seeded;
  for (int round = 0; round < subject.rounds && !::testing::Test::HasFailure(); ++round) {
    Life life(subject.random_limit(seeded.rng), seeded.rng);
    life.state = fresh_state(life.limit, life.now_ns);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(life.limit));
    Ledger ledger(life);
    for (int64_t steps = seeded.rng.between(2, 60); steps > 0; --steps) ledger.step();
    ledger.expect_formula();
  }
}

TEST(GiveBackLaws, WhatWasUsedAfterAllKeepsToABucketsFormula) {
  for (const auto limits : {any_gcra, any_leaky, small_bucket, small_bursty}) {
    keeps_to_formula({.random_limit = limits, .rounds = 5'000});
  }
}

TEST(GiveBackLaws, WhatWasUsedAfterAllKeepsToAWindowsFormula) {
  for (const auto limits : {fixed_of_epoch, any_sliding_counter, any_sliding_log,
                            uncapped_sliding_window, capped_sliding_window}) {
    keeps_to_formula({.random_limit = limits, .rounds = 2'000});
  }
}

TEST(LowWater, ALaterLowReplacesHigherOnesBeforeIt) {
  LowWater low;
  EXPECT_EQ(low.since(1), kNever);
  low.note(1, 4);
  low.note(2, 9);
  low.note(2, 12);  // the same charges, and more in use: nothing new
  EXPECT_EQ(low.since(0), 4);
  EXPECT_EQ(low.since(1), 4);
  EXPECT_EQ(low.since(2), 9);
  EXPECT_EQ(low.since(3), kNever);
  low.note(3, 6);
  EXPECT_EQ(low.since(1), 4);
  EXPECT_EQ(low.since(2), 6);
  EXPECT_EQ(low.since(3), 6);
  low.note(4, 0);
  EXPECT_EQ(low.marks().size(), 1u);
  EXPECT_EQ(low.since(1), 0);
}

TEST(LowWater, WhatIsGivenBackLowersAllSinceTheCharge) {
  LowWater low;
  low.note(1, 4);
  low.note(3, 9);
  low.give_back(2, 5);  // since the second charge: 9 - 5, which the first one has had as well
  EXPECT_EQ(low.since(1), 4);
  EXPECT_EQ(low.since(3), 4);
  low.note(5, 20);
  low.give_back(1, 3);
  EXPECT_EQ(low.since(1), 1);
  EXPECT_EQ(low.since(5), 17);
}

TEST(LowWater, OfTooManyMarksNoChargeGetsMore) {
  LowWater low;
  std::vector<int64_t> exact;
  for (int64_t i = 1; i <= 100; ++i) {
    low.note(static_cast<uint64_t>(i), i * i);
    exact.push_back(i * i);
  }
  ASSERT_EQ(low.marks().size(), LowWater::kMarksMax);
  for (uint64_t charge = 1; charge <= exact.size(); ++charge) {
    EXPECT_LE(low.since(charge), exact[charge - 1]);
  }
  EXPECT_EQ(low.since(1), 1);
}

TEST(LowWater, ItIsReadAsItWasWritten) {
  LowWater low;
  for (uint64_t i = 1; i < 8; ++i) low.note(i, static_cast<int64_t>(3 * i));
  char bytes[LowWater::kBytesMax];
  Writer writer(bytes, sizeof bytes);
  low.write(writer);
  ASSERT_TRUE(writer.ok());
  Reader reader({bytes, writer.size()});
  LowWater read;
  ASSERT_TRUE(read.read(reader, 7));
  EXPECT_TRUE(std::ranges::equal(read.marks(), low.marks()));
  Reader again({bytes, writer.size()});
  EXPECT_FALSE(read.read(again, 6)) << "a mark is of a change that was not made";
}

}  // namespace
}  // namespace weir::algorithms::testing
