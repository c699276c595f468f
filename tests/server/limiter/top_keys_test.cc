// The sketch against the true counts.
#include "server/limiter/counts/top_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace weir::server {
namespace {

uint64_t hash_of(const std::string& key) { return std::hash<std::string>()(key); }

TopKeys::Name name_of(const std::string& key) {
  return {.database = 0, .hash = hash_of(key), .key = key};
}

std::vector<TopKey> sorted_keys(const TopKeys& sketch) {
  TopSummary all = sketch.summary();
  all.sort();
  return all.keys();
}

TEST(TopKeys, CountsExactlyWhileThereIsRoom) {
  TopKeys sketch(3);
  for (const char* key : {"a", "b", "a", "c", "a", "b"}) sketch.add(name_of(key), 1);
  const auto top = sorted_keys(sketch);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].key, "a");
  EXPECT_EQ(top[0].count, 3);
  EXPECT_EQ(top[0].error, 0);
  EXPECT_EQ(top[1].key, "b");
}

// What was turned away before is the error of who comes in, and stays in the cell of who goes.
TEST(TopKeys, TakesOverTheSmallestOnceItIsPassed) {
  TopKeys sketch(2);
  sketch.add(name_of("a"), 5);
  sketch.add(name_of("b"), 2);
  sketch.add(name_of("c"), 2);
  EXPECT_EQ(sorted_keys(sketch)[1].key, "b");
  EXPECT_EQ(sketch.summary().floor(), 2);
  sketch.add(name_of("c"), 1);
  auto top = sorted_keys(sketch);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[1].key, "c");
  EXPECT_EQ(top[1].count, 3);
  EXPECT_EQ(top[1].error, 2);
  sketch.add(name_of("b"), 2);
  top = sorted_keys(sketch);
  EXPECT_EQ(top[1].key, "b");
  EXPECT_EQ(top[1].count, 4);
  EXPECT_EQ(top[1].error, 2);
}

TEST(TopKeys, TellsDatabasesApart) {
  TopKeys sketch(4);
  sketch.add({.database = 0, .hash = 7, .key = "k"}, 1);
  sketch.add({.database = 1, .hash = 7, .key = "k"}, 4);
  EXPECT_EQ(sketch.size(), 2u);
  EXPECT_EQ(sorted_keys(sketch)[0].database, 1);
}

TEST(TopKeys, OfNoCapacityKeepsNothing) {
  TopKeys sketch(0);
  sketch.add(name_of("a"), 1);
  EXPECT_TRUE(sketch.summary().empty());
}

using Counts = std::map<std::string, int64_t>;

// The three bounds at the head of counts/top_keys.h.
void expect_bounds(const TopKeys& sketch, const Counts& truth) {
  int64_t total = 0;
  for (const auto& [key, cost] : truth) total += cost;
  const int64_t share = total / static_cast<int64_t>(sketch.capacity());
  const auto top = sorted_keys(sketch);
  ASSERT_EQ(sketch.total(), total);
  ASSERT_LE(top.size(), sketch.capacity());
  ASSERT_LE(sketch.summary().floor(), share);
  Counts kept;
  for (const TopKey& each : top) {
    kept[each.key] = each.count;
    ASSERT_LE(each.count - each.error, truth.at(each.key));
    ASSERT_GE(each.count, truth.at(each.key));
    ASSERT_LE(each.error, share);
  }
  ASSERT_EQ(kept.size(), top.size());
  for (const auto& [key, cost] : truth) {
    if (kept.contains(key)) continue;
    ASSERT_LE(cost, share) << key;
    ASSERT_LE(cost, sketch.summary().floor()) << key;
  }
}

// Over short streams, skewed and even.
TEST(TopKeys, KeepsItsBounds) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TopKeys sketch(1 + random() % 50);
    const uint32_t keys = 1 + random() % 200;
    const bool skewed = random() % 2 == 0;
    Counts truth;
    for (int i = 0; i < 5000; ++i) {
      uint32_t key = random() % keys;
      if (skewed) key = std::min(key, static_cast<uint32_t>(random() % keys));
      const int64_t cost = 1 + random() % (1 + random() % 20);
      sketch.add(name_of(std::to_string(key)), cost);
      truth[std::to_string(key)] += cost;
      if (i % 1000 == 999) expect_bounds(sketch, truth);
    }
  }
}

// Draws a key by its rank, with a share that falls with the rank's power; 0: all alike.
class Draw {
 public:
  Draw(size_t keys, double power) : shares_(keys) {
    double sum = 0;
    for (size_t i = 0; i < keys; ++i) shares_[i] = sum += std::pow(double(i + 1), -power);
  }
  std::string operator()(std::mt19937* random) const {
    const double at = std::uniform_real_distribution(0.0, shares_.back())(*random);
    const auto found = std::upper_bound(shares_.begin(), shares_.end(), at);
    return std::to_string(std::min<size_t>(found - shares_.begin(), shares_.size() - 1));
  }

 private:
  std::vector<double> shares_;  // summed up
};

// Over many more keys than are watched, as a server meets them. A heavy key is known from its first
// request on where it comes early, so its count is exact.
TEST(TopKeys, KeepsItsBoundsAmongManyKeysAndSeldomLooksAtTheHeap) {
  constexpr size_t kKeys = 20'000;
  constexpr int kRequests = 120'000;
  for (const double power : {0.0, 0.5, 0.99, 1.3}) {
    SCOPED_TRACE(power);
    std::mt19937 random(7);
    const Draw draw(kKeys, power);
    TopKeys sketch(512);
    Counts truth;
    for (int i = 0; i < kRequests; ++i) {
      const std::string key = draw(&random);
      sketch.add(name_of(key), 1);
      ++truth[key];
    }
    expect_bounds(sketch, truth);
    EXPECT_LT(sketch.heap_looks(), kRequests / 8u);
    if (power < 0.9) continue;
    const auto top = sorted_keys(sketch);
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(top[i].count, truth[top[i].key]) << top[i].key;
      EXPECT_EQ(top[i].error, 0) << top[i].key;
    }
  }
}

// One key of many is heavy, but comes only after all others have begun.
TEST(TopKeys, FindsAKeyThatGrowsHeavyLate) {
  std::mt19937 random(3);
  const Draw draw(20'000, 0);
  TopKeys sketch(256);
  Counts truth;
  const auto add = [&](const std::string& key) {
    sketch.add(name_of(key), 1);
    ++truth[key];
  };
  for (int i = 0; i < 100'000; ++i) add(draw(&random));
  for (int i = 0; i < 20'000; ++i) add(i % 4 == 0 ? "late" : draw(&random));
  expect_bounds(sketch, truth);
  EXPECT_EQ(sorted_keys(sketch)[0].key, "late");
}

}  // namespace
}  // namespace weir::server
