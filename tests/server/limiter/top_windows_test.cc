// Merged sketches and windows against the true counts.
#include "server/limiter/counts/top_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace weir::server {
namespace {

using Counts = std::map<std::string, int64_t>;

TopKeys::Name hashed_name(const std::string& key) {
  return {.database = 0, .hash = std::hash<std::string>()(key), .key = key};
}

// The bounds of counts/top_keys.h, where nobody knows exactly which of two truths was counted:
// `least` or more, and `most` or less.
void expect_bounds(const TopSummary& sum, const Counts& least, const Counts& most,
                   size_t capacity) {
  ASSERT_LE(sum.keys().size(), capacity);
  int64_t total = 0;
  for (const auto& [key, count] : most) total += count;
  const auto count_in = [](const Counts& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  };
  Counts kept;
  for (const TopKey& key : sum.keys()) {
    kept[key.key] = key.count;
    ASSERT_GE(key.count, count_in(least, key.key)) << key.key;
    ASSERT_LE(key.count - key.error, count_in(most, key.key)) << key.key;
    ASSERT_LE(key.error, total / static_cast<int64_t>(capacity)) << key.key;
  }
  for (const auto& [key, count] : least) {
    if (kept.contains(key)) continue;
    ASSERT_LE(count, sum.floor()) << key;
    ASSERT_LE(count, total / static_cast<int64_t>(capacity)) << key;
  }
  ASSERT_TRUE(std::is_sorted(sum.keys().begin(), sum.keys().end(),
                             [](const TopKey& a, const TopKey& b) { return a.count > b.count; }));
}

class Stream {
 public:
  explicit Stream(std::mt19937* random)
      : random_(*random), keys_(1 + random_() % 200), skewed_(random_() % 2 == 0) {}

  std::string key() {
    uint32_t key = random_() % keys_;
    if (skewed_) key = std::min(key, static_cast<uint32_t>(random_() % keys_));
    return std::to_string(key);
  }
  int64_t cost() { return 1 + random_() % 20; }

 private:
  std::mt19937& random_;
  uint32_t keys_;
  bool skewed_;
};

TEST(TopSummary, KeepsTheBoundsOfASketchWhenItIsMerged) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const size_t capacity = 1 + random() % 50;
    Counts truth;
    TopSummary sum;
    for (int part = 0; part < 5; ++part) {
      Stream stream(&random);
      TopKeys sketch(capacity);
      for (int i = 0; i < 1000; ++i) {
        const std::string key = stream.key();
        const int64_t cost = stream.cost();
        sketch.add(hashed_name(key), cost);
        truth[key] += cost;
      }
      sum.merge(sketch.summary(), capacity);
    }
    sum.sort();
    expect_bounds(sum, truth, truth, capacity);
  }
}

TEST(TopSummary, IsExactWhereThereIsRoom) {
  TopKeys one(4);
  TopKeys other(4);
  one.add(hashed_name("a"), 3);
  other.add(hashed_name("a"), 2);
  other.add(hashed_name("b"), 9);
  TopSummary sum = one.summary();
  sum.merge(other.summary(), 4);
  sum.sort();
  ASSERT_EQ(sum.keys().size(), 2u);
  EXPECT_EQ(sum.keys()[0].key, "b");
  EXPECT_EQ(sum.keys()[1].count, 5);
  EXPECT_EQ(sum.keys()[1].error, 0);
  EXPECT_EQ(sum.floor(), 0);
}

struct Span {
  TopWindow window;
  int64_t least_s;
  int64_t most_s;
};
constexpr Span kSpans[] = {{TopWindow::kMinute, 60, 70},
                           {TopWindow::kHour, 3600, 4200},
                           {TopWindow::kDay, 86'400, 93'600}};

// Counts now and then, for some days, with pauses of every length.
TEST(TopWindows, KnowTheLastMinuteHourAndDay) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const size_t capacity = 1 + random() % 30;
    Stream stream(&random);
    TopWindows windows(capacity);
    struct Event {
      int64_t at_ns;
      std::string key;
      int64_t cost;
    };
    std::vector<Event> events;
    int64_t now_ns = 1'700'000'000 * kNsPerS + random() % kNsPerS;
    for (int i = 0; i < 3000; ++i) {
      constexpr int64_t kPauses[] = {1, 1, 1, 1, 5, 30, 200, 3000, 20'000};
      now_ns += static_cast<int64_t>(random() % (kPauses[random() % 9] * kNsPerS));
      events.push_back({now_ns, stream.key(), stream.cost()});
      windows.add(hashed_name(events.back().key), events.back().cost, now_ns);
      if (i % 50 != 0) continue;
      for (const auto& [window, least_s, most_s] : kSpans) {
        Counts least;
        Counts most;
        for (const Event& event : events) {
          if (event.at_ns > now_ns - least_s * kNsPerS) least[event.key] += event.cost;
          if (event.at_ns > now_ns - most_s * kNsPerS) most[event.key] += event.cost;
        }
        expect_bounds(windows.top(window, now_ns), least, most, capacity);
      }
    }
  }
}

TEST(TopWindows, ForgetWhatIsOverAndWhatTheyAreTold) {
  const int64_t start_ns = 1'700'000'000 * kNsPerS;
  TopWindows windows(8);
  windows.add(hashed_name("a"), 1, start_ns);
  EXPECT_EQ(windows.top(TopWindow::kMinute, start_ns + 59 * kNsPerS).keys().size(), 1u);
  EXPECT_TRUE(windows.top(TopWindow::kMinute, start_ns + 71 * kNsPerS).empty());
  EXPECT_EQ(windows.top(TopWindow::kHour, start_ns + 71 * kNsPerS).keys().size(), 1u);
  EXPECT_TRUE(windows.top(TopWindow::kDay, start_ns + 365 * kNsPerDay).empty());
  windows.add(hashed_name("a"), 1, start_ns + 366 * kNsPerDay);
  windows.reset(4);
  EXPECT_TRUE(windows.top(TopWindow::kDay, start_ns + 366 * kNsPerDay).empty());
  EXPECT_EQ(windows.size(TopWindow::kDay), 0u);
}

}  // namespace
}  // namespace weir::server
