// The log of a disk in memory, as one process holds it: its turns, their bookmarks, and the
// failures that the disk has in store for both.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory/memory_disk.h"
#include "storage/store/bookmarked_turns.h"
#include "storage/store/store.h"

namespace weir::storage {

class MemoryLog {
 public:
  // The disk must outlive it.
  explicit MemoryLog(MemoryDisk* disk) : disk_(*disk), bookmarked_(disk->bookmarked_kept) {}

  // Finds what the disk has; it has survived, so a machine that dies now would find it too.
  void open(OpenReport* report);

  // After a failure nothing is appended any more.
  const Status& failure() const { return failure_; }
  void append(uint64_t turn, std::string_view record);
  void append_batch(const TurnBatch& batch);
  Status sync(uint64_t turn);
  // Drops what is in the state, as far as nothing else needs it.
  void drop_turns(uint64_t written_back_turn);
  void keep_turns_from(uint64_t turn) { needed_turn_ = turn; }

  uint64_t last_turn() const;  // the last that was appended
  uint64_t bookmarked_turn(uint64_t at_most) const { return bookmarked_.newest_up_to(at_most); }
  void bookmarks(std::vector<KeptBookmark>* bookmarks) const;
  Lookup kept_turn(uint64_t turn, std::string* record) const;
  Status replay(uint64_t first,
                const std::function<Status(uint64_t turn, std::string_view record)>& visit) const;

  uint64_t bytes() const { return bytes_; }
  uint64_t syncs() const { return syncs_; }

 private:
  enum class Fault { kNone, kLost, kKept };
  Fault next_fault();
  void put_bookmark(const TurnBatch& batch, uint64_t bytes);
  void find_bookmarks();

  MemoryDisk& disk_;
  Status failure_;
  BookmarkedTurns bookmarked_;
  uint64_t needed_turn_ = 0;  // see keep_turns_from()
  uint64_t bytes_ = 0;
  uint64_t syncs_ = 0;
};

}  // namespace weir::storage
