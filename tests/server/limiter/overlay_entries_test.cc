// An overlay answers as a copy that was changed, over a map and over another overlay.
#include "server/limiter/entries/overlay_entries.h"

#include <random>

#include "tests/algorithms/counting_entries.h"

namespace weir::server {
namespace {

using algorithms::LogEntry;
using algorithms::testing::CountingEntries;
using algorithms::testing::MapEntries;

void expect_same(const algorithms::Entries& overlay, const MapEntries& copy) {
  ASSERT_EQ(overlay.size(), copy.size());
  for (size_t rank = 0; rank < copy.size(); ++rank) {
    ASSERT_EQ(overlay.entry(rank), copy.entry(rank)) << rank;
  }
  for (int64_t at_ns = -1; at_ns < 40; ++at_ns) {
    ASSERT_EQ(overlay.lower_bound(at_ns), copy.lower_bound(at_ns)) << at_ns;
  }
  for (int64_t id = 0; id < 40; ++id) ASSERT_EQ(overlay.find(id), copy.find(id)) << id;
}

class Changer {
 public:
  explicit Changer(unsigned seed) : random_(seed) {}

  // Few instants, so that many entries have the same.
  void change(algorithms::Entries* a, algorithms::Entries* b) {
    const auto id = static_cast<int64_t>(random_() % 40);
    const auto at_ns = static_cast<int64_t>(random_() % 9) * 4;
    if (random_() % 3 == 0) {
      a->erase(id);
      if (b != nullptr) b->erase(id);
      return;
    }
    const LogEntry entry{.id = id, .at_ns = at_ns, .permits = static_cast<int64_t>(random_())};
    a->put(entry);
    if (b != nullptr) b->put(entry);
  }

 private:
  std::mt19937 random_;
};

TEST(OverlayEntries, AnswersAsAChangedCopy) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Changer changer(seed);
    MapEntries base;
    for (unsigned i = 0; i < seed % 50; ++i) changer.change(&base, nullptr);
    MapEntries copy = base;
    const std::string before = base.text();
    OverlayEntries overlay(&base);
    for (int i = 0; i < 40; ++i) {
      changer.change(&overlay, &copy);
      ASSERT_NO_FATAL_FAILURE(expect_same(overlay, copy)) << seed;
    }
    OverlayEntries upper(&overlay);
    MapEntries upper_copy = copy;
    for (int i = 0; i < 40; ++i) {
      changer.change(&upper, &upper_copy);
      ASSERT_NO_FATAL_FAILURE(expect_same(upper, upper_copy)) << seed;
    }
    expect_same(overlay, copy);
    EXPECT_EQ(base.text(), before);
  }
}

TEST(OverlayEntries, OverNothingThereIsOnlyWhatWasPut) {
  OverlayEntries overlay;
  EXPECT_EQ(overlay.size(), 0u);
  EXPECT_EQ(overlay.lower_bound(5), 0u);
  overlay.erase(1);
  overlay.put({.id = 1, .at_ns = 7, .permits = 3});
  EXPECT_EQ(overlay.entry(0), (LogEntry{.id = 1, .at_ns = 7, .permits = 3}));
  EXPECT_EQ(overlay.find(1), overlay.entry(0));
}

TEST(OverlayEntries, LooksFewTimesAtALongBase) {
  CountingEntries base;
  for (int64_t i = 0; i < 10'000; ++i) base.put({.id = i, .at_ns = i / 100});
  base.looks = 0;
  OverlayEntries overlay(&base);
  for (int64_t i = 0; i < 64; ++i) overlay.erase(i);
  overlay.put({.id = 20'000, .at_ns = 50});
  for (size_t rank = 0; rank < overlay.size(); rank += 100) overlay.entry(rank);
  EXPECT_LT(base.looks, 65 * 15 + 100);
}

// A base that lost entries meanwhile makes nonsense, but nothing out of bounds.
TEST(OverlayEntries, ABaseThatShrankIsNotReadBeyondItsEnd) {
  MapEntries base;
  for (int64_t i = 0; i < 20; ++i) base.put({.id = i, .at_ns = i});
  OverlayEntries overlay(&base);
  for (int64_t i = 0; i < 10; ++i) overlay.erase(i);
  overlay.put({.id = 30, .at_ns = 15});
  for (int64_t i = 0; i < 18; ++i) base.erase(i);
  for (size_t rank = 0; rank < overlay.size(); ++rank) overlay.entry(rank);
  EXPECT_LE(overlay.lower_bound(100), 3u);
}

}  // namespace
}  // namespace weir::server
