#include "storage/store/stamped_turns.h"

#include <gtest/gtest.h>

namespace weir::storage {
namespace {

constexpr uint64_t kAll = UINT64_MAX;

StampedTurns stamps_at(std::initializer_list<uint64_t> turns, StampedTurns::Kept kept) {
  StampedTurns stamped(kept);
  for (const uint64_t turn : turns) stamped.add(turn, 10);
  return stamped;
}

TEST(StampedTurns, FindsTheNewestUpToATurn) {
  StampedTurns stamped({});
  EXPECT_EQ(stamped.newest_up_to(7), 7u) << "without stamps every turn counts";
  stamped.add(3, 1);
  stamped.add(5, 1);
  EXPECT_EQ(stamped.newest_up_to(2), 0u);
  EXPECT_EQ(stamped.newest_up_to(3), 3u);
  EXPECT_EQ(stamped.newest_up_to(4), 3u);
  EXPECT_EQ(stamped.newest_up_to(9), 5u);
}

TEST(StampedTurns, OneStampStaysAlways) {
  StampedTurns stamped = stamps_at({3, 5, 8}, {.bytes = 0, .stamps = 0});
  EXPECT_EQ(stamped.drop_up_to(6, kAll), 5u);
  EXPECT_EQ(stamped.newest_up_to(6), 5u);
  EXPECT_EQ(stamped.newest_up_to(4), 0u) << "its turns are gone";
  EXPECT_EQ(stamped.drop_up_to(100, kAll), 8u);
  EXPECT_EQ(stamped.newest_up_to(100), 8u);
}

TEST(StampedTurns, NothingGoesThatIsNeeded) {
  StampedTurns stamped = stamps_at({3, 5, 8}, {.bytes = 0, .stamps = 0});
  EXPECT_EQ(stamped.drop_up_to(2, kAll), 0u) << "not written back";
  EXPECT_EQ(stamped.drop_up_to(8, 3), 0u);
  EXPECT_EQ(stamped.drop_up_to(8, 6), 5u);
}

TEST(StampedTurns, KeepsSomeStampsAndSomeBytes) {
  EXPECT_EQ(stamps_at({3, 5, 8, 9}, {.bytes = 0, .stamps = 2}).drop_up_to(9, kAll), 5u);
  EXPECT_EQ(stamps_at({3, 5, 8, 9}, {.bytes = 30, .stamps = 0}).drop_up_to(9, kAll), 3u);
  EXPECT_EQ(stamps_at({3, 5, 8, 9}, {.bytes = 31, .stamps = 0}).drop_up_to(9, kAll), 0u);
}

TEST(StampedTurns, AHistoryThatEndedIsForgotten) {
  StampedTurns stamped = stamps_at({3, 5, 8}, {.bytes = 0, .stamps = 0});
  stamped.remove_from(4);
  stamped.add(4, 1);
  EXPECT_EQ(stamped.newest(), 4u);
  EXPECT_EQ(stamped.newest_up_to(8), 4u);
}

}  // namespace
}  // namespace weir::storage
