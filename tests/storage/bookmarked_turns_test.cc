#include "storage/store/bookmarked_turns.h"

#include <gtest/gtest.h>

namespace weir::storage {
namespace {

constexpr uint64_t kAll = UINT64_MAX;

BookmarkedTurns bookmarks_at(std::initializer_list<uint64_t> turns, BookmarkedTurns::Kept kept) {
  BookmarkedTurns bookmarked(kept);
  for (const uint64_t turn : turns) bookmarked.add(turn, 10);
  return bookmarked;
}

TEST(BookmarkedTurns, FindsTheNewestUpToATurn) {
  BookmarkedTurns bookmarked({});
  EXPECT_EQ(bookmarked.newest_up_to(7), 7u) << "without bookmarks every turn counts";
  bookmarked.add(3, 1);
  bookmarked.add(5, 1);
  EXPECT_EQ(bookmarked.newest_up_to(2), 0u);
  EXPECT_EQ(bookmarked.newest_up_to(3), 3u);
  EXPECT_EQ(bookmarked.newest_up_to(4), 3u);
  EXPECT_EQ(bookmarked.newest_up_to(9), 5u);
}

TEST(BookmarkedTurns, OneBookmarkStaysAlways) {
  BookmarkedTurns bookmarked = bookmarks_at({3, 5, 8}, {.bytes = 0, .bookmarks = 0});
  EXPECT_EQ(bookmarked.drop_up_to(6, kAll), 5u);
  EXPECT_EQ(bookmarked.newest_up_to(6), 5u);
  EXPECT_EQ(bookmarked.newest_up_to(4), 0u) << "its turns are gone";
  EXPECT_EQ(bookmarked.drop_up_to(100, kAll), 8u);
  EXPECT_EQ(bookmarked.newest_up_to(100), 8u);
}

TEST(BookmarkedTurns, NothingGoesThatIsNeeded) {
  BookmarkedTurns bookmarked = bookmarks_at({3, 5, 8}, {.bytes = 0, .bookmarks = 0});
  EXPECT_EQ(bookmarked.drop_up_to(2, kAll), 0u) << "not written back";
  EXPECT_EQ(bookmarked.drop_up_to(8, 3), 0u);
  EXPECT_EQ(bookmarked.drop_up_to(8, 6), 5u);
}

TEST(BookmarkedTurns, KeepsSomeBookmarksAndSomeBytes) {
  EXPECT_EQ(bookmarks_at({3, 5, 8, 9}, {.bytes = 0, .bookmarks = 2}).drop_up_to(9, kAll), 5u);
  EXPECT_EQ(bookmarks_at({3, 5, 8, 9}, {.bytes = 30, .bookmarks = 0}).drop_up_to(9, kAll), 3u);
  EXPECT_EQ(bookmarks_at({3, 5, 8, 9}, {.bytes = 31, .bookmarks = 0}).drop_up_to(9, kAll), 0u);
}

TEST(BookmarkedTurns, AHistoryThatEndedIsForgotten) {
  BookmarkedTurns bookmarked = bookmarks_at({3, 5, 8}, {.bytes = 0, .bookmarks = 0});
  bookmarked.remove_from(4);
  bookmarked.add(4, 1);
  EXPECT_EQ(bookmarked.newest(), 4u);
  EXPECT_EQ(bookmarked.newest_up_to(8), 4u);
}

}  // namespace
}  // namespace weir::storage
