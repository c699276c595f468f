// Whether the disk takes what is written, and what becomes of a server whose disk does not.
//
// With storage-failure-policy `deny` commands that write are refused until the store works again;
// with `memory` they go on, and the disk is owed what they change. A store that has failed is tried
// again once a second. Until then nobody knows what the last append has left: the store is closed,
// opened and replayed, and the log decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/config/config.h"
#include "server/os/clock.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class StorageHealth {
 public:
  StorageHealth(const Config* config, Clock* clock, storage::Keyspace* keys)
      : config_(*config), clock_(*clock), keys_(*keys) {}

  bool denies() const { return config_.storage_failure_policy == FailurePolicy::kDeny; }
  bool writes_denied() const { return keys_.store_in_use().failed() && denies(); }
  // Answers the error line of a command that is refused because the store has failed.
  std::string error() const;
  const storage::Status& failure() const { return failure_; }

  // Logs what became of an opening that found the disk full.
  void note_opening(const storage::OpenReport& report);
  // Takes note that the store has failed; `what` says for the log, in one line, what has happened.
  void fail(const storage::Status& failure, std::string_view what);
  // Logs that a record could not be read, and answers the error line.
  std::string note_read_failure(const storage::Status& failure);
  // Notes a store that was deleted under the server. Call it from time to time.
  void look();
  // Does the same when the process ends, and opens the store anew: the directory then says that it
  // is not a fresh one.
  void look_at_the_end();
  // Opens the store anew if that is due. True: it works again, and the records in memory may be
  // others than before.
  bool try_to_recover();

  // Answers another number whenever records may have changed otherwise than by commands.
  uint64_t data_epoch() const { return data_epoch_; }
  void note_other_data() { ++data_epoch_; }

 private:
  void fail_if_gone();

  const Config& config_;
  Clock& clock_;
  storage::Keyspace& keys_;
  storage::Status failure_;
  int64_t next_try_steady_ns_ = 0;
  int64_t next_look_steady_ns_ = 0;
  uint64_t data_epoch_ = 0;
};

}  // namespace weir::server
