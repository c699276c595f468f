// Which turns of a log have bookmarks, and how much of the log stays because of them. Pure
// bookkeeping.
//
// Invariant: what may be dropped ends at a bookmark, and that bookmark stays. It holds because
// drop_up_to() forgets only bookmarks before the one whose turn it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace weir::storage {

class BookmarkedTurns {
 public:
  // How much stays after the bookmark up to which a log is dropped. A log that lost its end may
  // have lost some records, however long each of them was.
  struct Kept {
    uint64_t bytes = 64 << 20;  // of turns
    size_t bookmarks = 16;
  };

  explicit BookmarkedTurns(Kept kept) : kept_(kept) {}

  bool empty() const { return bookmarks_.empty(); }
  uint64_t newest() const { return empty() ? 0 : bookmarks_.back().turn; }
  // The newest turn up to this one that has a bookmark; the turn itself if there are no bookmarks.
  uint64_t newest_up_to(uint64_t turn) const;

  void remove_from(uint64_t turn);
  // REQUIRES: turn > newest(). `bytes`: of the turns that came since the last call.
  void add(uint64_t turn, uint64_t bytes);

  // Answers the turn up to which the log may be dropped, of which everything up to `written_back`
  // is in the state, and everything from `needed` on is needed. 0: nothing may go.
  uint64_t drop_up_to(uint64_t written_back, uint64_t needed);

 private:
  struct LogBookmark {
    uint64_t turn;
    uint64_t bytes;  // of all turns up to it
  };
  bool may_go(size_t i, uint64_t written_back, uint64_t needed) const;

  const Kept kept_;
  std::deque<LogBookmark> bookmarks_;
  uint64_t bytes_ = 0;
};

}  // namespace weir::storage
