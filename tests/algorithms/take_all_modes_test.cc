// Limits in shadow among those that guard a request, at random: enforced ones decide as if they
// were alone, those in shadow are charged all or none after them, and all in shadow decide as
// enforced ones.
#include "algorithms/take_all.h"
#include "tests/algorithms/limits.h"
#include "tests/algorithms/map_entries.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

constexpr const char* kLimits[] = {"GCRA 5/10s",       "TOKENBUCKET 4/10s CAPACITY 6",
                                   "FIXED 6/20s",      "LEAKY 5/10s CAPACITY 4",
                                   "SLIDINGLOG 5/15s", "CONCURRENCY 4 LEASE 8s"};

struct OneLimit {
  Limit limit;
  State state = {};
  MapEntries entries = {};
  Mode mode = Mode::kEnforced;

  std::string bytes() const { return bytes_of(limit, state) + entries.text(); }
};

struct ManyLimits {
  std::vector<OneLimit> limits;
  std::vector<Guard> guards;

  AllVerdict take(int64_t cost, const AllRequest& request) {
    guards.clear();
    for (OneLimit& held : limits) {
      guards.push_back({.limit = &held.limit,
                        .state = &held.state,
                        .entries = &held.entries,
                        .cost = cost,
                        .mode = held.mode});
    }
    return take_all(guards, request);
  }
  std::string bytes() const {
    std::string all;
    for (const OneLimit& held : limits) all += held.bytes() + "\n";
    return all;
  }
  std::vector<int64_t> told() const {
    std::vector<int64_t> all;
    for (const Guard& guard : guards) {
      const Verdict& verdict = guard.verdict;
      all.insert(all.end(), {verdict.allowed, verdict.limit, verdict.remaining,
                             verdict.retry_after_ns, verdict.reset_after_ns});
    }
    return all;
  }
};

ManyLimits any_group(Rng& rng, int64_t most) {
  ManyLimits group;
  for (int64_t n = rng.between(1, most); n > 0; --n) {
    OneLimit held{.limit = written(kLimits[rng.between(0, std::size(kLimits) - 1)])};
    held.state = fresh_state(held.limit, kStartNs);
    group.limits.push_back(std::move(held));
  }
  return group;
}

AllRequest any_request(Rng& rng, int64_t now_ns, int64_t lease_id) {
  return {.now_ns = now_ns, .upto = rng.one_in(4), .peek = rng.one_in(5), .lease_id = lease_id};
}

TEST(TakeAllModes, AllInShadowDecideAsEnforcedOnesDo) {
  Seeded seeded;
  for (int world = 0; world < 200; ++world) {
    ManyLimits enforced = any_group(seeded.rng, 4);
    ManyLimits shadow = enforced;
    for (OneLimit& held : shadow.limits) held.mode = Mode::kShadow;
    for (int64_t step = 1, now_ns = kStartNs; step <= 40; ++step) {
      now_ns += seeded.rng.between(0, 4) * kSecond;
      const int64_t cost = seeded.rng.between(0, 3);
      const AllRequest request = any_request(seeded.rng, now_ns, step);
      const AllVerdict one = enforced.take(cost, request);
      const AllVerdict other = shadow.take(cost, request);
      ASSERT_EQ(one.allowed, other.allowed);
      ASSERT_EQ(one.deciding, other.deciding);
      ASSERT_EQ(one.granted, other.granted);
      ASSERT_FALSE(other.shadow_denier);
      ASSERT_EQ(enforced.told(), shadow.told());
      ASSERT_EQ(enforced.bytes(), shadow.bytes());
    }
  }
}

TEST(TakeAllModes, EnforcedOnesDecideAloneAndThoseInShadowAfterThem) {
  Seeded seeded;
  for (int world = 0; world < 300; ++world) {
    ManyLimits enforced = any_group(seeded.rng, 3);
    ManyLimits shadow = any_group(seeded.rng, 3);
    ManyLimits both = enforced;
    for (const OneLimit& held : shadow.limits) both.limits.push_back(held);
    for (size_t i = enforced.limits.size(); i < both.limits.size(); ++i)
      both.limits[i].mode = Mode::kShadow;
    for (int64_t step = 1, now_ns = kStartNs; step <= 40; ++step) {
      now_ns += seeded.rng.between(0, 4) * kSecond;
      const int64_t cost = seeded.rng.between(0, 3);
      const AllRequest request = any_request(seeded.rng, now_ns, step);
      const AllVerdict all = both.take(cost, request);
      const AllVerdict alone = enforced.take(cost, request);
      ASSERT_EQ(all.allowed, alone.allowed);
      ASSERT_EQ(all.deciding, alone.deciding);
      ASSERT_EQ(all.granted, alone.granted);
      AllRequest after = request;
      after.upto = false;
      if (!alone.allowed) after.peek = true;
      const int64_t asked = !alone.allowed ? 0 : request.upto ? alone.granted : cost;
      const AllVerdict watched = shadow.take(asked, after);
      ASSERT_EQ(all.shadow_denier.has_value(), alone.allowed && !watched.allowed);
      if (all.shadow_denier) {
        ASSERT_EQ(*all.shadow_denier, enforced.guards.size() + watched.deciding);
      }
      std::vector<int64_t> told = enforced.told();
      for (const int64_t each : shadow.told()) told.push_back(each);
      ASSERT_EQ(both.told(), told);
      ASSERT_EQ(both.bytes(), enforced.bytes() + shadow.bytes());
    }
  }
}

}  // namespace
}  // namespace weir::algorithms::testing
