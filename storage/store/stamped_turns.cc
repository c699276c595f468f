#include "storage/store/stamped_turns.h"

#include <algorithm>

#include "base/check.h"

namespace weir::storage {

uint64_t StampedTurns::newest_up_to(uint64_t turn) const {
  if (empty()) return turn;
  const auto after =
      std::upper_bound(stamps_.begin(), stamps_.end(), turn,
                       [](uint64_t wanted, const Stamp& stamp) { return wanted < stamp.turn; });
  return after == stamps_.begin() ? 0 : std::prev(after)->turn;
}

void StampedTurns::remove_from(uint64_t turn) {
  while (!empty() && stamps_.back().turn >= turn) stamps_.pop_back();
}

void StampedTurns::add(uint64_t turn, uint64_t bytes) {
  WEIR_CHECK(empty() || turn > newest());
  bytes_ += bytes;
  stamps_.push_back({turn, bytes_});
}

uint64_t StampedTurns::drop_up_to(uint64_t written_back, uint64_t needed) {
  while (may_go(1, written_back, needed)) stamps_.pop_front();
  return may_go(0, written_back, needed) ? stamps_.front().turn : 0;
}

// Whether everything up to this stamp may go.
bool StampedTurns::may_go(size_t i, uint64_t written_back, uint64_t needed) const {
  if (stamps_.size() <= i + kept_.stamps) return false;
  const Stamp& stamp = stamps_[i];
  return stamp.turn <= written_back && stamp.turn < needed && bytes_ - stamp.bytes >= kept_.bytes;
}

}  // namespace weir::storage
