#include "tests/replication/disk.h"

#include <algorithm>
#include <utility>

namespace weir::storage::replication {

void Disk::Image::apply(const Write& write) {
  const uint64_t first_replaced = write.turns.empty() ? write.bookmark.turn() : write.first_turn;
  bookmarks.erase(bookmarks.lower_bound(first_replaced), bookmarks.end());
  bookmarks[write.bookmark.turn()] = write.bookmark;
  for (size_t i = 0; i < write.turns.size(); ++i) turns[write.first_turn + i] = write.turns[i];
}

void Disk::Image::forget_before(const LogBookmark& bookmark) {
  bookmarks.erase(bookmarks.begin(), bookmarks.lower_bound(bookmark.turn()));
  turns.erase(turns.begin(), turns.upper_bound(bookmark.turn()));
}

void Disk::put(Write write) {
  image_.apply(write);
  unsynced_.push_back(std::move(write));
}

void Disk::write(const Batch& batch, bool torn) {
  if (!torn) {
    return put({.first_turn = batch.first_turn, .turns = batch.turns, .bookmark = batch.bookmark});
  }
  for (size_t i = 0; i < batch.turns.size(); ++i) {
    put({.first_turn = batch.first_turn + i,
         .turns = {batch.turns[i]},
         .bookmark = batch.bookmark});
  }
}

void Disk::replace_bookmark(const LogBookmark& bookmark) {
  put({.first_turn = bookmark.next_turn, .turns = {}, .bookmark = bookmark});
}

void Disk::sync() {
  for (const Write& write : std::exchange(unsynced_, {})) synced_.apply(write);
}

void Disk::cut_power(size_t count) {
  unsynced_.resize(unsynced_.size() - std::min(count, unsynced_.size()));
  image_ = synced_;
  for (const Write& write : unsynced_) image_.apply(write);
}

void Disk::write_back(const Base& base, uint64_t oldest, size_t bookmarks_kept) {
  sync();
  base_ = base;
  auto kept = synced_.bookmarks.upper_bound(oldest);
  while (kept != synced_.bookmarks.begin() &&
         static_cast<size_t>(std::distance(kept, synced_.bookmarks.end())) + 1 < bookmarks_kept) {
    --kept;
  }
  if (kept == synced_.bookmarks.begin()) return;
  const LogBookmark bookmark = std::prev(kept)->second;
  synced_.forget_before(bookmark);
  image_.forget_before(bookmark);
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

std::vector<LogBookmark> Disk::bookmarks() const {
  std::vector<LogBookmark> bookmarks;
  for (const auto& [turn, bookmark] : image_.bookmarks) bookmarks.push_back(bookmark);
  return bookmarks;
}

}  // namespace weir::storage::replication
