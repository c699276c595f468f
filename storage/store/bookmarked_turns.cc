#include "storage/store/bookmarked_turns.h"

#include <algorithm>

#include "base/check.h"

namespace weir::storage {

uint64_t BookmarkedTurns::newest_up_to(uint64_t turn) const {
  if (empty()) return turn;
  const auto after = std::upper_bound(
      bookmarks_.begin(), bookmarks_.end(), turn,
      [](uint64_t wanted, const LogBookmark& bookmark) { return wanted < bookmark.turn; });
  return after == bookmarks_.begin() ? 0 : std::prev(after)->turn;
}

void BookmarkedTurns::remove_from(uint64_t turn) {
  while (!empty() && bookmarks_.back().turn >= turn) bookmarks_.pop_back();
}

void BookmarkedTurns::add(uint64_t turn, uint64_t bytes) {
  WEIR_CHECK(empty() || turn > newest());
  bytes_ += bytes;
  bookmarks_.push_back({turn, bytes_});
}

uint64_t BookmarkedTurns::drop_up_to(uint64_t written_back, uint64_t needed) {
  while (may_go(1, written_back, needed)) bookmarks_.pop_front();
  return may_go(0, written_back, needed) ? bookmarks_.front().turn : 0;
}

// Whether everything up to this bookmark may go.
bool BookmarkedTurns::may_go(size_t i, uint64_t written_back, uint64_t needed) const {
  if (bookmarks_.size() <= i + kept_.bookmarks) return false;
  const LogBookmark& bookmark = bookmarks_[i];
  return bookmark.turn <= written_back && bookmark.turn < needed &&
         bytes_ - bookmark.bytes >= kept_.bytes;
}

}  // namespace weir::storage
