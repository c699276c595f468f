#include "storage/memory/memory_disk.h"

#include <algorithm>

namespace weir::storage {

std::shared_ptr<MemoryDisk> make_memory_disk(const HashSeed& seed) {
  auto disk = std::make_shared<MemoryDisk>();
  disk->seed = seed;
  return disk;
}

std::shared_ptr<MemoryDisk> MemoryDisk::after_kill() const {
  auto copy = std::make_shared<MemoryDisk>(*this);
  copy->state = std::make_shared<State>(*state);
  copy->faults = {};
  copy->checkpoints.clear();
  return copy;
}

void apply_bookmark(const BookmarkWrite& write, std::map<uint64_t, std::string>* bookmarks) {
  bookmarks->erase(bookmarks->lower_bound(write.first_replaced), bookmarks->end());
  (*bookmarks)[write.bookmark.turn] = write.bookmark.bytes;
}

// A batch that does not fit into what is kept is not there at all.
std::shared_ptr<MemoryDisk> MemoryDisk::after_power_cut(PowerCut cut) const {
  auto copy = after_kill();
  uint64_t last_kept = synced_turn + cut.unsynced_turns_kept;
  copy->bookmarks = synced_bookmarks;
  copy->unsynced_bookmarks.clear();
  for (const BookmarkWrite& write : unsynced_bookmarks) {
    if (write.newest_turn > last_kept) break;
    apply_bookmark(write, &copy->bookmarks);
  }
  copy->synced_bookmarks = copy->bookmarks;
  if (!bookmarks.empty()) last_kept = std::min(last_kept, batch_end(last_kept));
  while (!copy->log.empty() && copy->log.back().turn > last_kept) copy->log.pop_back();
  if (cut.torn) copy->tail_note = "half a turn follows turn " + std::to_string(last_kept);
  return copy;
}

// The newest end of a batch up to this turn.
uint64_t MemoryDisk::batch_end(uint64_t turn) const {
  uint64_t end = synced_turn;
  for (const BookmarkWrite& write : unsynced_bookmarks) {
    if (write.newest_turn <= turn) end = std::max(end, write.newest_turn);
  }
  return end;
}

}  // namespace weir::storage
