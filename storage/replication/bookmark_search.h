// Finds the newest of a member's bookmarks that the log still confirms, after the log was rewound.
//
// Two logs that agree on one record agree on everything before it, and a member's bookmarks follow
// one another on one history, so confirmation is monotone and the search halves. A search that
// finds nothing is made twice (CatchUp): where the engine fails over in its middle, its answers are
// about two logs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/replication/log_bookmark.h"
#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

class BookmarkSearch {
 public:
  // The bookmarks in ascending order.
  explicit BookmarkSearch(std::vector<LogBookmark> bookmarks)
      : bookmarks_(std::move(bookmarks)), above_(bookmarks_.size()) {}

  bool is_done() const { return below_ == above_; }
  // The record to ask the log for. REQUIRES: !is_done().
  const Head& probe() const { return bookmarks_[middle()].head; }
  // REQUIRES: the answer is about probe(), and tells something: kRecords, kRewound or kTrimmed.
  void answer(Read::Outcome outcome);
  // The result; nothing if the log confirms none.
  std::optional<LogBookmark> found() const;

 private:
  size_t middle() const { return below_ + (above_ - below_) / 2; }

  std::vector<LogBookmark> bookmarks_;
  size_t below_ = 0;  // the first that is not known to be confirmed or too old
  size_t above_;      // the first that is known to be lost
  std::optional<size_t> confirmed_;
};

}  // namespace weir::storage::replication
