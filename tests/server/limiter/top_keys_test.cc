// The sketch against the true counts.
#include "server/limiter/counts/top_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(TopKeys, TakesOverTheSmallest) {
  TopKeys sketch(2);
  sketch.add(name_of("a"), 5);
  sketch.add(name_of("b"), 2);
  sketch.add(name_of("c"), 1);
  const auto top = sorted_keys(sketch);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[1].key, "c");
  EXPECT_EQ(top[1].count, 3);
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

// The three bounds at the head of counts/top_keys.h, over skewed and even streams.
TEST(TopKeys, KeepsItsBounds) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const size_t capacity = 1 + random() % 50;
    const uint32_t keys = 1 + random() % 200;
    const bool skewed = random() % 2 == 0;
    TopKeys sketch(capacity);
    std::map<std::string, int64_t> truth;
    int64_t total = 0;
    for (int i = 0; i < 5000; ++i) {
      uint32_t key = random() % keys;
      if (skewed) key = std::min(key, static_cast<uint32_t>(random() % keys));
      const int64_t cost = 1 + random() % (1 + random() % 20);
      sketch.add(name_of(std::to_string(key)), cost);
      truth[std::to_string(key)] += cost;
      total += cost;
    }
    const auto top = sorted_keys(sketch);
    ASSERT_EQ(sketch.total(), total);
    ASSERT_LE(top.size(), capacity);
    std::map<std::string, int64_t> kept;
    for (const TopKey& each : top) {
      kept[each.key] = each.count;
      ASSERT_LE(each.count - each.error, truth[each.key]);
      ASSERT_GE(each.count, truth[each.key]);
      ASSERT_LE(each.error, total / static_cast<int64_t>(capacity));
    }
    ASSERT_EQ(kept.size(), top.size());
    for (const auto& [key, cost] : truth) {
      if (cost > total / static_cast<int64_t>(capacity)) {
        ASSERT_TRUE(kept.contains(key)) << key;
      }
    }
    ASSERT_TRUE(std::is_sorted(top.begin(), top.end(),
                               [](const TopKey& a, const TopKey& b) { return a.count > b.count; }));
  }
}

}  // namespace
}  // namespace weir::server
