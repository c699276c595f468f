// The turns that a member holds: those of its local log, and those that it sealed as primary and
// that are not committed yet. Beside them, the records of turns that the shared log has accepted
// from this primary and that nobody has acknowledged.
//
// Invariants
// 1. A sealed turn's number and bytes never change; it leaves when it is committed, or when the
//    process stops being primary.
// 2. Sealed turns follow the local log's without a gap.
// 3. Accepted records lie in the order of the log, without gaps between their turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "storage/replication/local_turns.h"

namespace weir::storage::replication {

class HeldTurns {
 public:
  // What a turn of the log is to a member.
  enum class Match { kSame, kNew, kSealedDiffers, kLocalDiffers };

  explicit HeldTurns(const LocalTurns* local) : local_(local) { drop_sealed(); }

  uint64_t newest() const { return first_ + sealed_.size() - 1; }
  uint64_t newest_local() const { return local_newest_; }
  // REQUIRES: the turn is held.
  std::string bytes_of(uint64_t turn) const;
  Match match(uint64_t turn, std::string_view bytes) const;

  // REQUIRES: `turn` is newest() + 1.
  void seal(uint64_t turn, std::string_view record);
  void accept(Batch batch);
  bool has_accepted() const { return !accepted_.empty(); }
  // REQUIRES: has_accepted().
  uint64_t first_accepted() const { return accepted_.front().first_turn; }
  // All accepted records are committed: they are handed out to be written.
  std::vector<Batch> take_accepted();
  // The log went back: what was accepted must be read again.
  void forget_accepted() { accepted_.clear(); }
  // The local log has this batch now.
  void wrote(const Batch& batch);
  // Only what the local log has is left.
  void drop_sealed();

 private:
  const LocalTurns* local_;
  uint64_t local_newest_ = 0;
  uint64_t first_ = 1;  // of sealed_
  std::deque<std::string> sealed_;
  std::vector<Batch> accepted_;
};

}  // namespace weir::storage::replication
