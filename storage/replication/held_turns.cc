#include "storage/replication/held_turns.h"

#include <utility>

#include "base/check.h"

namespace weir::storage::replication {

std::string HeldTurns::bytes_of(uint64_t turn) const {
  if (turn >= first_) return sealed_.at(turn - first_);
  std::optional<std::string> bytes = local_->turn(turn);
  WEIR_CHECK(bytes.has_value());
  return *std::move(bytes);
}

HeldTurns::Match HeldTurns::match(uint64_t turn, std::string_view bytes) const {
  if (turn > newest()) return Match::kNew;
  if (turn >= first_) return sealed_[turn - first_] == bytes ? Match::kSame : Match::kSealedDiffers;
  return local_->turn(turn) == bytes ? Match::kSame : Match::kLocalDiffers;
}

void HeldTurns::seal(uint64_t turn, std::string_view record) {
  WEIR_CHECK(turn == newest() + 1);
  sealed_.emplace_back(record);
}

void HeldTurns::accept(Batch batch) {
  WEIR_CHECK(accepted_.empty() || batch.first_turn == accepted_.back().last_turn() + 1);
  accepted_.push_back(std::move(batch));
}

std::vector<Batch> HeldTurns::take_accepted() { return std::exchange(accepted_, {}); }

void HeldTurns::wrote(const Batch& batch) {
  local_newest_ = std::max(local_newest_, batch.last_turn());
  for (; first_ <= local_newest_; ++first_) {
    if (!sealed_.empty()) sealed_.pop_front();
  }
}

void HeldTurns::drop_sealed() {
  sealed_.clear();
  accepted_.clear();
  local_newest_ = local_->newest_turn();
  first_ = local_newest_ + 1;
}

}  // namespace weir::storage::replication
