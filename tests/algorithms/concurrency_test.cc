// CONCURRENCY against a table derived by hand, leases given back and prolonged, and books so long
// that sums stand for most of them.
#include "algorithms/concurrency.h"

#include "algorithms/lease_book.h"
#include "tests/algorithms/counting_entries.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

Limit leases(int64_t n, int64_t lease_ns = 30 * kSecond) {
  return windowed(algorithm_concurrency, n, lease_ns);
}

TEST(Concurrency, FiveForThirtySeconds) {
  expect_table(leases(5), {
                              {0, 2, {true, 5, 3, 0, 30 * kSecond, true}},
                              {10 * kSecond, 3, {true, 5, 0, 0, 30 * kSecond, true}},
                              {11 * kSecond, 3, {false, 5, 0, 29 * kSecond, 29 * kSecond, false}},
                              {11 * kSecond, 2, {false, 5, 0, 19 * kSecond, 29 * kSecond, false}},
                              {30 * kSecond - 1, 2, {false, 5, 0, 1, 10 * kSecond + 1, false}},
                              {30 * kSecond, 0, {true, 5, 2, 0, 10 * kSecond, false}},
                              {30 * kSecond, 2, {true, 5, 0, 0, 30 * kSecond, true}},
                              {30 * kSecond, -5, {true, 5, 0, 0, 30 * kSecond, false}},
                              {60 * kSecond - 1, 0, {true, 5, 3, 0, 1, false}},
                              {60 * kSecond, 6, {false, 5, 5, kNever, 0, false}},
                              {60 * kSecond, 0, {true, 5, 5, 0, 0, false}},
                          });
}

struct Pool {
  Limit limit;
  State state = {};
  CountingEntries entries = {};

  Verdict take(int64_t after_ns, int64_t cost, int64_t id) {
    return decide(
        limit, state,
        {.now_ns = kStartNs + after_ns, .cost = cost, .entries = &entries, .lease_id = id});
  }
  Verdict ask(int64_t after_ns, int64_t cost = 0) {
    return peek(limit, state, kStartNs + after_ns, cost, &entries);
  }
  int64_t release(int64_t after_ns, int64_t id) {
    return release_lease(state, entries, {.id = id, .now_ns = kStartNs + after_ns});
  }
  int64_t renew(int64_t after_ns, int64_t id) {
    return renew_lease(limit, state, entries, {.id = id, .now_ns = kStartNs + after_ns});
  }
};

TEST(Concurrency, ALeaseIsReleasedOnceAndNotWhenItHasExpired) {
  Pool pool{leases(5)};
  pool.take(0, 2, 11);
  pool.take(10 * kSecond, 3, 12);
  EXPECT_EQ(pool.release(11 * kSecond, 12), 3);
  EXPECT_EQ(pool.ask(11 * kSecond), (Verdict{true, 5, 3, 0, 19 * kSecond, false}));
  EXPECT_EQ(pool.release(11 * kSecond, 12), 0);
  EXPECT_EQ(pool.release(11 * kSecond, 99), 0);
  EXPECT_EQ(pool.release(11 * kSecond, -1), 0);
  EXPECT_EQ(pool.release(30 * kSecond, 11), 0);
  EXPECT_EQ(pool.release(30 * kSecond - 1, 11), 2);
  EXPECT_EQ(bytes_of(pool.limit, pool.state), bytes_of(pool.limit, State{}));
  EXPECT_EQ(pool.entries.size(), 0u);
}

TEST(Concurrency, ARenewedLeaseLastsAWholeLeaseFromNow) {
  Pool pool{leases(5)};
  pool.take(0, 2, 11);
  EXPECT_EQ(pool.renew(20 * kSecond, 11), 2);
  EXPECT_EQ(pool.ask(49 * kSecond).remaining, 3);
  EXPECT_EQ(pool.ask(20 * kSecond, 5).retry_after_ns, 30 * kSecond);
  EXPECT_EQ(pool.renew(10 * kSecond, 11), 2);  // a clock set back shortens nothing
  EXPECT_EQ(pool.ask(20 * kSecond, 5).retry_after_ns, 30 * kSecond);
  EXPECT_EQ(pool.renew(50 * kSecond, 11), 0);
  EXPECT_EQ(pool.renew(50 * kSecond, 12), 0);
}

TEST(Concurrency, AnyNumberAtOnceForAnyLease) {
  EXPECT_EQ(leases(kLeasesMax, kPeriodNsMin).capacity, kLeasesMax);
  EXPECT_EQ(leases(kLeasesMax, kPeriodNsMax).capacity, kLeasesMax);
  LimitSpec spec{.algorithm = &algorithm_concurrency, .count = 0, .period_ns = kSecond};
  EXPECT_EQ(refusal(spec), "n must be between 1 and 1000000, got '0'");
  spec.count = kLeasesMax + 1;
  EXPECT_EQ(refusal(spec), "n must be between 1 and 1000000, got '1000001'");
  spec = {.algorithm = &algorithm_concurrency, .count = 1, .period_ns = 999};
  EXPECT_EQ(refusal(spec), "LEASE must be between 1us and 3650d, got '999ns'");
}

TEST(Concurrency, LeasesStayWhenTheLimitChanges) {
  Pool pool{leases(5)};
  pool.take(0, 4, 11);
  const int64_t now_ns = kStartNs + kSecond;
  const auto carried = [&](const Limit& to, int64_t cost) {
    const State next =
        carry_over(pool.limit, to, pool.state, CarryOver::kAsIs, now_ns, &pool.entries);
    return peek(to, next, now_ns, cost, &pool.entries);
  };
  EXPECT_EQ(carried(leases(9), 0).remaining, 5);
  EXPECT_EQ(carried(leases(3), 0).remaining, 0);
  EXPECT_EQ(carried(leases(3, kSecond), 1).retry_after_ns, 29 * kSecond);
}

TEST(Concurrency, AnIdIsNotUsedTwice) {
  Pool pool{leases(5)};
  pool.take(0, 1, 11);
  EXPECT_THROW(pool.take(0, 1, 11), BrokenCheck);
  EXPECT_THROW(pool.take(0, 1, 0), BrokenCheck);
}

TEST(Concurrency, AGrantRemovesAFewExpiredLeasesAndADenialNone) {
  Pool pool{leases(100)};
  for (int64_t id = 1; id <= 100; ++id) ASSERT_TRUE(pool.take(id, 1, id).allowed);
  const int64_t before = pool.entries.changes;
  EXPECT_FALSE(pool.take(31 * kSecond, 101, 500).allowed);
  EXPECT_EQ(pool.take(31 * kSecond, 0, 500).remaining, 100);
  EXPECT_EQ(pool.entries.changes, before);
  EXPECT_EQ(pool.take(31 * kSecond, 1, 501).remaining, 99);
  EXPECT_EQ(pool.entries.size(), 100u - 16u + 1u);
}

// What must not cost more than some chunks and the leases of one.
TEST(Concurrency, ManyLeasesCostAShortWalk) {
  constexpr int64_t kMany = 50'000;
  Pool pool{leases(kMany)};
  for (int64_t id = 1; id <= kMany; ++id) ASSERT_TRUE(pool.take(id, 1, id).allowed);
  const int64_t expiry_ns = 30 * kSecond;
  for (const int64_t expired : {int64_t{0}, int64_t{1}, kMany / 2, kMany - 1}) {
    pool.entries.looks = 0;
    EXPECT_EQ(pool.ask(expiry_ns + expired).remaining, expired);
    EXPECT_EQ(pool.ask(expiry_ns + expired, kMany).retry_after_ns, kMany - expired);
    EXPECT_EQ(pool.ask(expiry_ns + expired, expired + 1).retry_after_ns, 1);
    EXPECT_LT(pool.entries.looks, 10'000) << expired;
  }
  pool.entries.looks = 0;
  EXPECT_EQ(pool.release(kSecond, kMany / 2), 1);
  EXPECT_EQ(pool.renew(kSecond, kMany / 2 + 1), 1);
  EXPECT_LT(pool.entries.looks, 200);
}

// Nearly all of many leases are released: no more chunks are left than the rest deserves.
TEST(Concurrency, ChunksMelt) {
  constexpr int64_t kMany = 40'000;
  Pool pool{leases(kMany)};
  for (int64_t id = 1; id <= kMany; ++id) ASSERT_TRUE(pool.take(id, 1, id).allowed);
  EXPECT_GT(pool.entries.lower_bound(0), 30u);
  for (int64_t id = 1; id <= kMany; ++id) {
    ASSERT_TRUE(id % 500 == 0 || pool.release(kSecond, id) == 1);
  }
  EXPECT_LE(pool.entries.lower_bound(0), 2u);
  EXPECT_EQ(pool.ask(kSecond).remaining, kMany - 80);
}

// The same questions to a list. Every look compares all there is to compare.
struct NaiveLeases {
  std::map<int64_t, LogEntry> held;

  std::vector<LogEntry> live(int64_t now_ns) const {
    std::vector<LogEntry> found;
    for (const auto& [id, lease] : held) {
      if (lease.at_ns > now_ns) found.push_back(lease);
    }
    std::sort(found.begin(), found.end(),
              [](const LogEntry& a, const LogEntry& b) { return a.at_ns < b.at_ns; });
    return found;
  }
  int64_t sum(int64_t now_ns) const {
    int64_t sum = 0;
    for (const LogEntry& lease : live(now_ns)) sum += lease.permits;
    return sum;
  }
  int64_t back_at(int64_t now_ns, int64_t permits) const {
    for (const LogEntry& lease : live(now_ns)) {
      if ((permits -= lease.permits) <= 0) return lease.at_ns;
    }
    return 0;
  }
};

class LongBook {
 public:
  explicit LongBook(Rng& rng) : rng_(rng) {}

  // A burst of leases, a burst of releases, or a few renewals; now and then some of one instant,
  // and some that end earlier than others before them.
  void live() {
    now_ns_ += rng_.between(0, 2'000);
    const int64_t lease_ns = rng_.one_in(4) ? rng_.between(1, 100'000) : 100'000;
    for (int64_t i = rng_.between(0, 1'500); i > 0; --i) {
      if (rng_.one_in(2)) now_ns_ += rng_.between(0, 30);
      add({.id = ++last_id_, .at_ns = now_ns_ + lease_ns, .permits = rng_.between(1, 5)});
    }
    const int64_t releases = rng_.one_in(3) ? rng_.between(0, 3'000) : 20;
    for (int64_t i = releases; i > 0 && !naive_.held.empty(); --i) {
      const auto found = naive_.held.lower_bound(rng_.between(1, last_id_));
      if (found == naive_.held.end()) continue;
      const LogEntry lease = found->second;
      remove(lease);
      if (rng_.one_in(4)) add({lease.id, now_ns_ + 100'000, lease.permits});
    }
    change([&](LeaseBook& book) { book.prune(now_ns_); });
    std::erase_if(naive_.held, [&](const auto& each) {
      return each.second.at_ns <= now_ns_ && !entries_.find(each.first);
    });
  }

  void expect_the_same() {
    const int64_t at_ns = now_ns_ + rng_.any_magnitude(0, 110'000);
    const LeaseBook book(state_, &entries_);
    const int64_t live = naive_.sum(at_ns);
    ASSERT_EQ(book.live_at(at_ns), live);
    if (live == 0) return;
    const int64_t permits = rng_.between(1, live);
    ASSERT_EQ(book.back_at(at_ns, permits), naive_.back_at(at_ns, permits)) << permits;
  }

  size_t chunks() const { return entries_.lower_bound(0); }
  size_t leases() const { return naive_.held.size(); }

 private:
  template <class Change>
  void change(Change change) {
    LeaseBook book(state_, &entries_);
    change(book);
    state_ = book.state();
  }
  void add(const LogEntry& lease) {
    change([&](LeaseBook& book) { book.add(lease); });
    naive_.held[lease.id] = lease;
  }
  void remove(const LogEntry& lease) {
    change([&](LeaseBook& book) { book.remove(lease); });
    naive_.held.erase(lease.id);
  }

  Rng& rng_;
  State state_;
  MapEntries entries_;
  NaiveLeases naive_;
  int64_t now_ns_ = 1'000;
  int64_t last_id_ = 0;
};

TEST(LeaseBook, AgreesWithAListHoweverLong) {
  Seeded seeded;
  size_t most_chunks = 0;
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    LongBook book(seeded.rng);
    for (int step = 0; step < 30 && !HasFailure(); ++step) {
      book.live();
      for (int i = 0; i < 5; ++i) book.expect_the_same();
      EXPECT_LE(book.chunks(), 2 * book.leases() / kChunkLeases + 1);
      most_chunks = std::max(most_chunks, book.chunks());
    }
  }
  EXPECT_GT(most_chunks, 3u);
}

}  // namespace
}  // namespace weir::algorithms::testing
