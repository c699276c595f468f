// The bookmarks of a member's local log from the one that its state files have reached on: how far
// a restart reads the shared log again from.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "storage/replication/head.h"
#include "storage/replication/log_bookmark.h"

namespace weir::storage::replication {

class BookmarkTrail {
 public:
  BookmarkTrail() = default;
  // All that the local log has, in ascending order.
  explicit BookmarkTrail(const std::vector<LogBookmark>& bookmarks) {
    for (const LogBookmark& bookmark : bookmarks) note(bookmark.next_turn, bookmark);
  }

  // A bookmark was written, which replaces those of `first_turn` or later, and that of its own
  // turn.
  void note(uint64_t first_turn, const LogBookmark& bookmark) {
    while (!places_.empty() &&
           (places_.back().turn >= first_turn || places_.back().turn >= bookmark.turn()))
      places_.pop_back();
    places_.push_back({.turn = bookmark.turn(), .head = bookmark.head});
  }

  // The place of the newest bookmark of a turn up to this one, which the state files have reached;
  // {0, 0}: there is none. What is older is forgotten.
  Head reached(uint64_t written_back_turn) {
    while (places_.size() > 1 && places_[1].turn <= written_back_turn) places_.pop_front();
    if (places_.empty() || places_.front().turn > written_back_turn) return {};
    return places_.front().head;
  }

 private:
  struct Place {
    uint64_t turn = 0;
    Head head;
  };
  std::deque<Place> places_;
};

}  // namespace weir::storage::replication
