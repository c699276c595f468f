#include "tests/replication/disk.h"

#include <algorithm>

namespace weir::storage::replication {

void Disk::write(const Batch& batch, bool torn) {
  if (!torn) {
    writes_.push_back({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = batch.stamp});
    return apply(writes_.back());
  }
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    writes_.push_back(
        {.first_turn = batch.first_turn + i, .turns = {batch.turns[i]}, .stamp = batch.stamp});
    apply(writes_.back());
  }
}

void Disk::restamp(const Stamp& stamp) {
  writes_.push_back({.first_turn = stamp.next_turn, .turns = {}, .stamp = stamp});
  apply(writes_.back());
}

void Disk::apply(const Write& write) {
  const uint64_t first_replaced = write.turns.empty() ? write.stamp.turn() : write.first_turn;
  stamps_.erase(stamps_.lower_bound(first_replaced), stamps_.end());
  stamps_[write.stamp.turn()] = write.stamp;
  for (size_t i = 0; i < write.turns.size(); ++i) turns_[write.first_turn + i] = write.turns[i];
}

void Disk::cut_power(size_t count) {
  writes_.resize(writes_.size() - std::min(count, unsynced()));
  turns_.clear();
  stamps_.clear();
  for (const Write& write : writes_) apply(write);
}

std::optional<std::string> Disk::turn(uint64_t turn) const {
  const auto found = turns_.find(turn);
  if (found == turns_.end()) return std::nullopt;
  return found->second;
}

std::vector<Stamp> Disk::stamps() const {
  std::vector<Stamp> stamps;
  for (const auto& [turn, stamp] : stamps_) stamps.push_back(stamp);
  return stamps;
}

}  // namespace weir::storage::replication
