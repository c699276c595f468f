// What outlives the process of a store in memory: a disk of which tests say when it fails, what it
// does later, and what a death leaves of it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/store/bookmarked_turns.h"
#include "storage/store/steady_clock.h"
#include "storage/store/store.h"

namespace weir::storage {

// Failures to come. Each number says which call from now on fails: 1 the next one, 0 none. A number
// counts itself down.
struct MemoryFaults {
  uint64_t append_lost = 0;  // nothing is written
  uint64_t append_kept = 0;  // the turn is in the log although the call fails
  uint64_t sync = 0;
  uint64_t write_back = 0;
  uint64_t checkpoint = 0;
  uint64_t get = 0;
  uint64_t cursor = 0;           // counts the keys that cursors reach
  bool disk_full = false;        // every append, write-back and checkpoint fails while it is set
  bool opens_read_only = false;  // a store that is opened while it is set takes no writes
};

// Counts a failure to come down: true if it has come.
inline bool strikes(uint64_t* countdown) { return *countdown != 0 && --*countdown == 0; }

struct LoggedTurn {
  uint64_t turn = 0;
  std::string record;
};

// The bookmarks of a log, and those of its writes that were not synced.
struct BookmarkWrite {
  uint64_t newest_turn = 0;  // of the log after the write
  uint64_t first_replaced = 0;
  KeptBookmark bookmark;
};

struct MemoryDisk {
  using State = std::map<std::string, std::string, std::less<>>;

  // What a power cut leaves of the turns that were never synced.
  struct PowerCut {
    uint64_t unsynced_turns_kept = 0;
    bool torn = false;  // half a turn follows them
  };

  std::deque<LoggedTurn> log;
  std::shared_ptr<State> state = std::make_shared<State>();
  uint64_t written_back_turn = 0;
  int64_t instant_ns = 0;
  uint64_t synced_turn = 0;
  std::map<uint64_t, std::string> bookmarks;         // by turn, as a process finds them
  std::map<uint64_t, std::string> synced_bookmarks;  // ... as a power cut leaves them at least
  std::vector<BookmarkWrite> unsynced_bookmarks;     // what lies between the two, in order
  HashSeed seed{};
  bool opened_before = false;
  std::string tail_note;

  MemoryFaults faults;
  bool deferred = false;
  bool appends_late = false;
  BookmarkedTurns::Kept bookmarked_kept = {};
  std::function<int64_t()> steady_ns = steady_clock_ns;            // when a sync begins
  std::map<std::string, std::shared_ptr<MemoryDisk>> checkpoints;  // by directory

  // The disk as it is found after a death. After the death of the process everything is found;
  // after that of the machine the synced turns and perhaps more. Faults and checkpoints are not
  // carried over.
  std::shared_ptr<MemoryDisk> after_kill() const;
  std::shared_ptr<MemoryDisk> after_power_cut(PowerCut cut) const;

 private:
  uint64_t batch_end(uint64_t turn) const;
};

std::shared_ptr<MemoryDisk> make_memory_disk(const HashSeed& seed);

// Does what a write of bookmarks does to those that are there.
void apply_bookmark(const BookmarkWrite& write, std::map<uint64_t, std::string>* bookmarks);

}  // namespace weir::storage
