#include "storage/replication/bookmark_search.h"

#include "base/check.h"

namespace weir::storage::replication {

void BookmarkSearch::answer(Read::Outcome outcome) {
  WEIR_CHECK(!is_done());
  const size_t asked = middle();
  switch (outcome) {
    case Read::Outcome::kRecords:
      confirmed_ = asked;
      below_ = asked + 1;
      break;
    case Read::Outcome::kTrimmed:
      below_ = asked + 1;
      break;
    case Read::Outcome::kRewound:
      above_ = asked;
      break;
    case Read::Outcome::kDamaged:
    case Read::Outcome::kFailed:
      WEIR_CHECK(false);
  }
}

std::optional<LogBookmark> BookmarkSearch::found() const {
  if (!confirmed_) return std::nullopt;
  return bookmarks_[*confirmed_];
}

}  // namespace weir::storage::replication
