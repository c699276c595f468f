// The durable half of storage: a log of turns, and the state, which follows the log later.
//
// The log holds one record per turn, in turn order. The state holds stored keys (format/record.h)
// in byte order, as of some turn before the log's end. The keyspace keeps this order: it appends a
// turn and later writes back what the turn changed; the store then drops the log up to the
// *written-back turn*: everything up to it is in the state. Opening replays the log after it.
//
// Invariants
// 1. When appended_turn() has come to a turn, its record will be found again after the death of the
//    process (kill -9). After the death of the machine it will be found if a sync that began after
//    its append() has completed.
// 2. A write-back becomes visible and durable as a whole, together with its turn and instant,
//    or not at all. The store syncs the log before that, so the state never holds what the log
//    could still lose.
// 3. Nothing here reads a clock. The compaction filter drops a record only if it owns no elements
//    and had expired at the instant of the newest turn wholly written back: that instant is handed
//    in with each write-back.
// 4. Methods are called from one thread. A store's own threads show only through getters, which are
//    asked again and again, and through `notify`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/format/key_order.h"
#include "storage/format/status.h"
#include "storage/store/bookmarked_log.h"
#include "storage/store/turn_log.h"

namespace weir::storage {

// What opening found, for the log line at start.
struct OpenReport {
  bool created = false;
  uint64_t written_back_turn = 0;
  int64_t instant_ns = 0;        // of that turn
  uint64_t last_turn = 0;        // the newest turn in the log or the state: where replay ends
  std::string tail_note;         // how the log's tail was damaged; empty if it was not
  bool gave_up_reserve = false;  // the disk was full, and the reserve made room
  // The disk was full all the same: what is stored can be read, and every write fails with this.
  Status read_only;
};

// How far an opening is, for who watches it.
struct OpeningStep {
  enum class Part : uint8_t {
    kReadLog,  // in bytes; the store says only how many there are before it begins
    kReplay,   // in turns
  };
  Part part = Part::kReadLog;
  uint64_t done = 0;
  uint64_t all = 0;
};
// Called on the calling thread of open(), often: it must cost little.
using OpeningWatch = std::function<void(const OpeningStep& step)>;

// A slice of a write-back: changes in ascending order of their stored keys, over all slices of
// the write-back.
class StateSlice {
 public:
  void put(std::string_view stored_key, std::string_view value) { add(kPut, stored_key, value); }
  void erase(std::string_view stored_key) { add(kErase, stored_key, {}); }
  // Erases all stored keys in [begin, end).
  void erase_range(std::string_view begin, std::string_view end) { add(kEraseRange, begin, end); }

  enum Op : uint8_t { kPut, kErase, kEraseRange };
  struct Change {
    Op op;
    uint32_t first_bytes;
    uint64_t second_bytes;
  };
  // Calls visit(op, first, second) in order; stops at the first failure.
  template <typename Visit>
  Status for_each(Visit visit) const {
    size_t at = 0;
    for (const Change& change : changes_) {
      const std::string_view first(bytes_.data() + at, change.first_bytes);
      const std::string_view second(bytes_.data() + at + change.first_bytes, change.second_bytes);
      at += change.first_bytes + change.second_bytes;
      if (Status status = visit(change.op, first, second); !status.ok()) return status;
    }
    return {};
  }
  size_t size() const { return changes_.size(); }
  bool empty() const { return changes_.empty(); }
  size_t bytes() const { return bytes_.size(); }

 private:
  void add(Op op, std::string_view first, std::string_view second) {
    changes_.push_back({op, static_cast<uint32_t>(first.size()), second.size()});
    bytes_.append(first).append(second);
  }

  std::vector<Change> changes_;
  std::string bytes_;
};

// Ordered iteration over the state, as it was when the cursor was made.
class StateCursor {
 public:
  virtual ~StateCursor() = default;
  virtual void seek(std::string_view stored_key) = 0;
  virtual bool valid() const = 0;
  virtual void next() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual Status status() const = 0;  // must be looked at whenever valid() is false
};

struct SyncState {
  bool running = false;
  uint64_t synced_turn = 0;          // every turn up to here survives a power cut
  int64_t last_begin_steady_ns = 0;  // when the last completed sync began, by the steady clock
  Status failure;                    // outcome of the last sync
};

// Of a write-back or of a checkpoint.
struct JobState {
  bool running = false;  // it was asked for and has not ended
  Status failure;        // outcome of the last one
};

struct StoreMetrics {
  uint64_t log_bytes = 0;    // live, on disk
  uint64_t state_bytes = 0;  // on disk
  uint64_t state_records_estimate = 0;
  uint64_t records_dropped = 0;  // by the compaction filter, since start
  uint64_t syncs = 0;
  uint64_t write_backs = 0;
  // The store's own work, since it was opened. Those that only some stores have are 0 in others.
  uint64_t write_stalls = 0;  // times that the store began to slow writing down, or to stop it
  uint64_t compactions = 0;   // that have ended
  uint64_t compactions_running = 0;
  uint64_t compaction_us = 0;
  uint64_t compaction_bytes = 0;          // written by them
  uint64_t compaction_pending_bytes = 0;  // that are to be compacted, about
  uint64_t unmerged_files = 0;  // files that every read of the state may have to look into
  uint64_t merge_waits = 0;     // write-backs that waited until there were fewer of them,
  uint64_t merge_wait_us = 0;   // and how long
  // The disk that has the data; both 0: not known.
  uint64_t disk_bytes = 0;
  uint64_t disk_free_bytes = 0;  // that this process may use
};

// Bytes of memory that the store holds beside the working set, about.
struct StoreMemory {
  uint64_t memtables = 0;      // turns that can be read though the log is open, and room for more
  uint64_t log_queue = 0;      // turns that wait until the log's file takes them
  uint64_t block_cache = 0;    // blocks of tables that were read
  uint64_t table_readers = 0;  // filters and indexes of tables that are open
};

class Store : public TurnLog, public BookmarkedLog {
 public:
  // Called from any thread when a sync, a write-back or a checkpoint has ended, or an append that
  // was not completed when it returned. Set before open().
  void set_notify(std::function<void()> notify) { notify_ = std::move(notify); }

  virtual Status open(OpenReport* report) = 0;
  // Who is told how far open() is; set before it.
  void set_opening_watch(OpeningWatch watch) { opening_watch_ = std::move(watch); }
  // Before open(): only the store with this seed will do, and none is made anew. A store that is
  // opened again under a running server must not begin with nothing.
  void expect(const HashSeed& seed) { expected_ = seed; }
  // False: what the store was opened from is there no more.
  virtual bool is_there() const { return true; }
  virtual const HashSeed& hash_seed() const = 0;

  // The log, to which turns are appended through TurnLog or BookmarkedLog. replay() visits every
  // turn from `first` on, ascending and without gaps, or fails.
  virtual Status replay(
      uint64_t first,
      const std::function<Status(uint64_t turn, std::string_view record)>& visit) = 0;
  // From now on what append() takes is not read again before the store is opened anew, so it need
  // not be kept in memory: replay() and the functions of BookmarkedLog are not called any more.
  virtual Status forget_turns() { return {}; }
  // append() may complete later than it returns, while the disk is busy: every turn up to this one
  // is in the log; `notify` tells when to look again. The greatest number: append() has always
  // completed when it returns.
  virtual uint64_t appended_turn() const { return UINT64_MAX; }
  // How such an append has failed. It stays, and nothing is appended any more.
  virtual Status append_failure() const { return {}; }
  // Starts a sync of every turn appended so far. REQUIRES: none is running.
  virtual void start_sync() = 0;
  virtual SyncState sync_state() const = 0;
  // Does the same, and waits for its end.
  virtual Status sync_now() = 0;

  // Reads from the state.
  virtual Lookup get(std::string_view stored_key, std::string* value, Status* failure) = 0;
  virtual std::unique_ptr<StateCursor> cursor() = 0;

  // A write-back: any number of slices, then finish. The next write-back may begin when
  // write_back_state().running is false; `notify` tells when to look. If the write-back fails,
  // nothing of it is in the state.
  virtual void add_to_write_back(StateSlice slice) = 0;
  virtual void finish_write_back(uint64_t written_back_turn, int64_t instant_ns) = 0;
  virtual JobState write_back_state() const = 0;

  // Starts a copy of everything at one moment, which opens as a data directory of its own, through
  // replay. REQUIRES: no write-back is running. Its end shows as that of a write-back does.
  virtual void start_checkpoint(const std::string& directory) = 0;
  virtual JobState checkpoint_state() const = 0;

  // Tries with a small file whether the disk takes writes, for a store that has failed. Reads and
  // changes no data.
  virtual Status probe() { return {}; }

  // Takes the stored keys of some header records that had expired at the instant of the
  // written-back turn. The filter never drops headers, since their elements would stay for ever; it
  // tells of a header each time it meets it. The keys are hints: one may be told twice, or mean
  // nothing any more.
  virtual std::vector<std::string> take_expired_headers(size_t max) = 0;

  virtual StoreMetrics metrics() const = 0;
  virtual StoreMemory memory() const { return {}; }

 protected:
  void notify() const {
    if (notify_) notify_();
  }

  void tell_opening(const OpeningStep& step) const {
    if (opening_watch_) opening_watch_(step);
  }

  std::optional<HashSeed> expected_;  // see expect()

 private:
  OpeningWatch opening_watch_;
  std::function<void()> notify_;
};

}  // namespace weir::storage
