// A member's way to the end of the log: it reads on, or, where the log was rewound, searches for
// the newest place that both have.
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "storage/replication/bookmark_search.h"
#include "storage/replication/log_bookmark.h"

namespace weir::storage::replication {

class CatchUp {
 public:
  // Before the end is reached, a member decides nothing else.
  bool is_at_end() const { return std::holds_alternative<AtEnd>(step_); }
  void reached_end() {
    step_ = AtEnd();
    searched_in_vain_ = false;
  }
  // Without effect on a search that is under way.
  void must_read() {
    if (is_at_end()) step_ = Reading();
  }

  // Null: no search is under way.
  const BookmarkSearch* search() const { return std::get_if<BookmarkSearch>(&step_); }
  BookmarkSearch* search() { return std::get_if<BookmarkSearch>(&step_); }
  void begin_search(std::vector<LogBookmark> bookmarks) {
    step_ = BookmarkSearch(std::move(bookmarks));
  }
  // It goes on by reading, from a place that the caller knows.
  void end_search() { step_ = Reading(); }
  // Answers whether it was the first search since the end was reached that found nothing.
  bool found_nothing() { return !std::exchange(searched_in_vain_, true); }

 private:
  struct AtEnd {};
  struct Reading {};

  std::variant<Reading, AtEnd, BookmarkSearch> step_;
  bool searched_in_vain_ = false;
};

}  // namespace weir::storage::replication
