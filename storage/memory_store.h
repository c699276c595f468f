// A store whose disk is memory. `--storage memory` runs on it, and simulations crash it.
//
// Like a real store it has two parts. A MemoryDisk is what outlives a process: make a store on it,
// drop the store, make another, and find everything again. A MemoryStore is one process' hold on
// the disk. The shipped server does not keep the disk, so all data ends with the store.
//
// Invariants
// 1. Syncs, passes and checkpoints end inside the call that starts them, with `notify` called
//    there, unless the disk says `deferred`: then they end in MemoryStore::step().
// 2. A pass is applied in finish_pass(): a caller that may not hold its thread for long makes small
//    passes.
// 3. A power cut leaves batches of a shared log whole, with their stamps, or takes them away whole:
//    the disk keeps its batches as writes until they are synced.
// 4. A cursor that lives across a pass costs a copy of the state, which it shares until then.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/horizon.h"
#include "storage/stamped_turns.h"
#include "storage/steady_clock.h"
#include "storage/store.h"

namespace weir::storage {

// Failures to come. Each number says which call from now on fails: 1 the next one, 0 none. A number
// counts itself down.
struct MemoryFaults {
  uint64_t append_lost = 0;  // nothing is written
  uint64_t append_kept = 0;  // the turn is in the log although the call fails
  uint64_t sync = 0;
  uint64_t pass = 0;
  uint64_t checkpoint = 0;
  uint64_t get = 0;
  uint64_t cursor = 0;           // counts the positions that cursors reach
  bool disk_full = false;        // every append, pass and checkpoint fails while it is set
  bool opens_read_only = false;  // a store that is opened while it is set takes no writes
};

struct LoggedTurn {
  uint64_t turn = 0;
  std::string record;
};

// The stamps of a log, and those of its writes that were not synced.
struct StampWrite {
  uint64_t newest_turn = 0;  // of the log after the write
  uint64_t first_replaced = 0;
  KeptStamp stamp;
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
  std::map<uint64_t, std::string> stamps;         // by turn, as a process finds them
  std::map<uint64_t, std::string> synced_stamps;  // ... as a power cut leaves them at least
  std::vector<StampWrite> unsynced_stamps;        // what lies between the two, in order
  HashSeed seed{};
  bool opened_before = false;
  std::string tail_note;

  MemoryFaults faults;
  bool deferred = false;
  StampedTurns::Kept stamped_kept = {};
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

class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk)
      : disk_(std::move(disk)), stamped_(disk_->stamped_kept) {}

  // Ends the oldest operation under way. False if there is none.
  bool step();

  Status open(OpenReport* report) override;
  const HashSeed& hash_seed() const override { return disk_->seed; }
  Status append(uint64_t turn, std::string_view record) override;
  Status append_batch(const TurnBatch& batch) override;
  Status stamps(std::vector<KeptStamp>* stamps) override;
  uint64_t stamped_turn(uint64_t at_most) const override { return stamped_.newest_up_to(at_most); }
  Lookup kept_turn(uint64_t turn, std::string* record, Status* failure) override;
  void keep_turns_from(uint64_t turn) override { needed_turn_ = turn; }
  Status replay(
      uint64_t first,
      const std::function<Status(uint64_t turn, std::string_view record)>& visit) override;
  void start_sync() override;
  SyncState sync_state() const override { return sync_; }
  Status sync_now() override;
  Lookup get(std::string_view stored_key, std::string* value, Status* failure) override;
  std::unique_ptr<StateCursor> cursor() override;
  void add_to_pass(StateSlice slice) override;
  void finish_pass(uint64_t written_back_turn, int64_t instant_ns) override;
  PassState pass_state() const override { return pass_; }
  void start_checkpoint(const std::string& directory) override;
  PassState checkpoint_state() const override { return checkpoint_; }
  Status probe() override {
    return disk_->faults.disk_full ? Status::no_space("injected full disk") : Status();
  }
  std::vector<std::string> take_expired_owners(size_t max) override {
    return expired_owners_.take(max);
  }
  StoreFigures figures() const override;

 private:
  void soon(std::function<void()> work);
  enum class Fault { kNone, kLost, kKept };
  Fault next_fault();
  void put_stamp(const TurnBatch& batch, uint64_t bytes);
  void find_stamps();
  void drop_turns(uint64_t written_back_turn);
  uint64_t last_turn() const;  // the last that was appended
  Status sync_log(uint64_t turn);
  Status apply_pass(uint64_t written_back_turn, int64_t instant_ns);
  void apply_slices();
  void drop_expired();
  void put(std::string_view stored_key, std::string_view value);
  void erase(MemoryDisk::State::iterator at);

  const std::shared_ptr<MemoryDisk> disk_;
  std::deque<std::function<void()>> pending_;
  std::vector<StateSlice> slices_;
  std::string last_key_of_pass_;
  std::string swept_up_to_;  // where the dropping of expired records goes on in the next pass
  SyncState sync_;
  PassState pass_;
  PassState checkpoint_;
  Status log_failure_;
  StoreFigures figures_;
  ExpiredOwners expired_owners_;
  StampedTurns stamped_;
  uint64_t needed_turn_ = 0;  // see keep_turns_from()
};

// Makes a store on a disk and under a seed of its own.
std::unique_ptr<Store> make_memory_store();

}  // namespace weir::storage
