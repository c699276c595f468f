#include "tests/replication/disk.h"

#include <algorithm>
#include <utility>

namespace weir::storage::replication {

void Disk::Image::apply(const Write& write) {
  const uint64_t first_replaced = write.turns.empty() ? write.stamp.turn() : write.first_turn;
  stamps.erase(stamps.lower_bound(first_replaced), stamps.end());
  stamps[write.stamp.turn()] = write.stamp;
  for (size_t i = 0; i < write.turns.size(); ++i) turns[write.first_turn + i] = write.turns[i];
}

void Disk::Image::forget_before(const Stamp& stamp) {
  stamps.erase(stamps.begin(), stamps.lower_bound(stamp.turn()));
  turns.erase(turns.begin(), turns.upper_bound(stamp.turn()));
}

void Disk::put(Write write) {
  image_.apply(write);
  unsynced_.push_back(std::move(write));
}

void Disk::write(const Batch& batch, bool torn) {
  if (!torn) {
    return put({.first_turn = batch.first_turn, .turns = batch.turns, .stamp = batch.stamp});
  }
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    put({.first_turn = batch.first_turn + i, .turns = {batch.turns[i]}, .stamp = batch.stamp});
  }
}

void Disk::restamp(const Stamp& stamp) {
  put({.first_turn = stamp.next_turn, .turns = {}, .stamp = stamp});
}

void Disk::sync() {
  for (const Write& write : std::exchange(unsynced_, {})) synced_.apply(write);
}

void Disk::cut_power(size_t count) {
  unsynced_.resize(unsynced_.size() - std::min(count, unsynced_.size()));
  image_ = synced_;
  for (const Write& write : unsynced_) image_.apply(write);
}

void Disk::write_back(const Base& base, uint64_t oldest, size_t stamps_kept) {
  sync();
  base_ = base;
  auto kept = synced_.stamps.upper_bound(oldest);
  while (kept != synced_.stamps.begin() &&
         static_cast<size_t>(std::distance(kept, synced_.stamps.end())) + 1 < stamps_kept) {
    --kept;
  }
  if (kept == synced_.stamps.begin()) return;
  const Stamp stamp = std::prev(kept)->second;
  synced_.forget_before(stamp);
  image_.forget_before(stamp);
}

Disk Disk::checkpoint() const {
  Disk copy = *this;
  copy.sync();
  return copy;
}

std::optional<std::string> Disk::turn(uint64_t turn) const {
  const auto found = image_.turns.find(turn);
  if (found == image_.turns.end()) return std::nullopt;
  return found->second;
}

std::vector<Stamp> Disk::stamps() const {
  std::vector<Stamp> stamps;
  for (const auto& [turn, stamp] : image_.stamps) stamps.push_back(stamp);
  return stamps;
}

}  // namespace weir::storage::replication
