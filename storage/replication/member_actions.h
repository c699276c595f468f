// What a Member asks of the process around it, and what it tells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "storage/replication/head.h"
#include "storage/replication/local_turns.h"

namespace weir::storage::replication {

// Why a member was demoted or stopped.
enum class Reason {
  kFenced,         // another member claimed the shard
  kSwitchedOver,   // by its own SWITCHOVER
  kImpossible,     // the log holds a record that it does not understand
  kTurnsDiffer,    // the log has other turns than the local log; or the member lacks some
  kTwin,           // another process writes turns in this process's own epoch
  kRewoundTooFar,  // the log confirms none of the local bookmarks
  kTrimmed,        // the log no longer keeps what follows the local log: a snapshot is needed
  kDamaged,        // the log has a gap or a broken record
  kBadTurns,       // the log holds a turn that nobody could have made
};

class MemberActions {
 public:
  virtual ~MemberActions() = default;

  // As in SharedLog. The answers come back by Member::appended() and Member::read(), later.
  virtual void append(std::optional<Head> expected, std::string record) = 0;
  virtual void read(Head after, size_t bytes_max) = 0;

  // A standby has read the batch: it is written to the local log in one write, which also removes
  // every bookmark of first_turn or later before it puts the batch's own. Then those of its turns
  // that are new are applied. (A member that is ahead of the log gets turns again that it has; they
  // are the same bytes.) False: one of them cannot be applied, and nothing was done.
  virtual bool follow(const Batch& batch) = 0;
  // A primary's batch is committed: written likewise; its turns are applied already.
  virtual void write_committed(const Batch& batch) = 0;
  // The bookmark replaces every bookmark of its turn or later.
  virtual void replace_bookmark(const LogBookmark& bookmark) = 0;

  // The process is primary and may seal turns, the first one at `instant_ns` or later.
  virtual void promote(int64_t instant_ns) = 0;
  // Sealed turns that are not committed are dropped, and the state is that of the local log.
  virtual void demote(Reason reason) = 0;
  // The member follows and claims no more. A primary has been told demote() before.
  virtual void stop(Reason reason) = 0;

  // The primary's own timeline; asked between promotion and demotion only.
  virtual int64_t instant_ns() = 0;
  // The turn up to which everything is in the state files.
  virtual uint64_t written_back_turn() const = 0;
  virtual uint64_t random() = 0;
};

}  // namespace weir::storage::replication
