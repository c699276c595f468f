// The side of a store that keeps the turns of a log which several machines share (replication/).
//
// Such turns come in batches, one for each record of the shared log. With each batch comes a log
// bookmark: what a reader of the shared log needs to go on after that record. Here a bookmark is
// only bytes. Every store has this side; it is an interface of its own because a server alone never
// asks for it.
//
// Invariants
// 1. The turns of a batch and its bookmark are one write: a power cut leaves all of it or nothing.
// 2. A store that has had a bookmark has one always, and all turns after its oldest one. So whoever
//    opens it can ask the shared log for what follows, also after that log has lost its end. The
//    oldest bookmark stays when newer ones come, and several stay besides a number of bytes: after
//    a rewind there may be no younger one that the shared log confirms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/format/status.h"

namespace weir::storage {

enum class Lookup { kFound, kAbsent, kFailed };

struct TurnBatch {
  uint64_t first_turn = 0;
  std::span<const std::string>
      turns;                  // records of consecutive turns; none: only the bookmark changes
  std::string_view bookmark;  // of last_turn()

  uint64_t last_turn() const { return first_turn + turns.size() - 1; }
  // Bookmarks of this turn and of later ones are of a history that the batch ends.
  uint64_t first_bookmark_replaced() const { return turns.empty() ? last_turn() : first_turn; }
};

struct KeptBookmark {
  uint64_t turn = 0;
  std::string bytes;
};

class BookmarkedLog {
 public:
  virtual ~BookmarkedLog() = default;

  // Appends the turns that the log does not have yet, removes the bookmarks that the batch
  // replaces, and puts the batch's own. A turn that the log has already must be the same bytes; the
  // caller has compared them. A failure counts as that of TurnLog::append().
  // REQUIRES: first_turn is at most the turn after the newest one.
  virtual Status append_batch(const TurnBatch& batch) = 0;

  // In ascending order of their turns.
  virtual Status bookmarks(std::vector<KeptBookmark>* bookmarks) = 0;
  // The newest turn up to `at_most` that has a bookmark: up to it the state may be told to reach. A
  // store without bookmarks answers `at_most`.
  virtual uint64_t bookmarked_turn(uint64_t at_most) const = 0;
  // The record of a turn that is still kept.
  virtual Lookup kept_turn(uint64_t turn, std::string* record, Status* failure) = 0;
  // Where there are bookmarks, turns from this one on stay although they are written back, and so
  // does the newest bookmark before it. Until this is called, all stay.
  virtual void keep_turns_from(uint64_t turn) = 0;
};

}  // namespace weir::storage
