// Which turns of a log have stamps, and how much of the log stays because of them. Pure
// bookkeeping.
//
// Invariant: what may be dropped ends at a stamp, and that stamp stays. It holds because
// drop_up_to() forgets only stamps before the one whose turn it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace weir::storage {

class StampedTurns {
 public:
  // How much stays after the stamp up to which a log is dropped. A log that lost its end may have
  // lost some records, however long each of them was.
  struct Kept {
    uint64_t bytes = 64 << 20;  // of turns
    size_t stamps = 16;
  };

  explicit StampedTurns(Kept kept) : kept_(kept) {}

  bool empty() const { return stamps_.empty(); }
  uint64_t newest() const { return empty() ? 0 : stamps_.back().turn; }
  // The newest turn up to this one that has a stamp; the turn itself if there are no stamps.
  uint64_t newest_up_to(uint64_t turn) const;

  void remove_from(uint64_t turn);
  // REQUIRES: turn > newest(). `bytes`: of the turns that came since the last call.
  void add(uint64_t turn, uint64_t bytes);

  // Answers the turn up to which the log may be dropped, of which everything up to `written_back`
  // is in the state, and everything from `needed` on is needed. 0: nothing may go.
  uint64_t drop_up_to(uint64_t written_back, uint64_t needed);

 private:
  struct Stamp {
    uint64_t turn;
    uint64_t bytes;  // of all turns up to it
  };
  bool may_go(size_t i, uint64_t written_back, uint64_t needed) const;

  const Kept kept_;
  std::deque<Stamp> stamps_;
  uint64_t bytes_ = 0;
};

}  // namespace weir::storage
