// Dirty bytes: those of memory that cannot be given up because the disk is owed them. They are what
// is committed and not written back, and what the turn in progress has changed.
//
// A command that alone would change more is answered an error; one that would fit later is taken
// back, and is run again when write-back has caught up. What is given up are larger turns.
//
// Invariants
// 1. They never pass bytes_max(): half of memory_bytes_max, but at least 8 MiB and at most
//    1 GiB, so that one log record can hold them. It holds because each change is counted here
//    before it is made, and one that would pass the bound is refused.
// 2. What is committed is counted when a turn begins. Until the next one begins it can only shrink,
//    because nothing else makes entries dirty, so the bound of the turn stays safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "storage/format/status.h"
#include "storage/memtable/working_set.h"
#include "storage/memtable/write_back.h"
#include "storage/store/keyspace_options.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

// Thrown where a command changes more than it may, or makes a name that is too long;
// TurnInProgress::failure() says why. The change that threw it has not been made, not even in part.
struct ChangeRefused : std::exception {
  const char* what() const noexcept override { return "the change was refused"; }
};

class DirtyBytes {
 public:
  static constexpr size_t kChangeBytes = 128;  // what an undo and an entry's head take, about

  DirtyBytes(const WorkingSet& set, const WriteBack& write_back, const StoreInUse& store,
             const KeyspaceOptions& options)
      : set_(set), write_back_(write_back), store_(store), options_(options) {}

  size_t bytes() const { return owed_bytes_ + turn_bytes_; }
  size_t bytes_max() const;
  // What the turn in progress has changed so far.
  size_t turn_bytes() const { return turn_bytes_; }
  // True when there are so many that a command that changes data should wait for write-back.
  bool too_much() const { return turn_bytes_ >= worry_bytes_ && can_write_back(); }

  // Counts a change that is about to be made. False if it is one too many; refusal() says why.
  [[nodiscard]] bool add(size_t bytes) {
    turn_bytes_ += kChangeBytes + bytes;
    return turn_bytes_ <= turn_bytes_max_;
  }
  Status refusal() const;
  // Takes back what was counted since the turn had changed so much.
  void take_back(size_t turn_bytes) { turn_bytes_ = turn_bytes; }
  // A command begins: one that is not the later part of a transaction.
  void begin_command() { command_begin_bytes_ = turn_bytes_; }
  // Sets what the next turn may change. REQUIRES: no turn is in progress.
  void begin_turn();
  // Write-back is so late, or not so late any more, that commands which change data should wait for
  // it however little is owed. Counts from the next turn on.
  void set_late(bool late) { late_ = late; }
  bool late() const { return late_; }

 private:
  bool can_write_back() const { return !store_.failed() && write_back_.failure().ok(); }

  const WorkingSet& set_;
  const WriteBack& write_back_;
  const StoreInUse& store_;
  const KeyspaceOptions& options_;
  size_t turn_bytes_ = 0;
  size_t turn_bytes_max_ = SIZE_MAX;
  size_t worry_bytes_ = SIZE_MAX;  // from here on the keyspace owes too much
  size_t owed_bytes_ = 0;          // committed and not written back, when the turn began
  size_t command_begin_bytes_ = 0;
  bool late_ = false;
};

}  // namespace weir::storage
