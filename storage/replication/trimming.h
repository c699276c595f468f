// How far a primary may trim the shared log.
//
// Kept are the newest `retained_bytes`, what the primary and every member in the member registry
// may still read, and what a snapshot needs that is being taken. Beyond `bytes_max` the member
// registry is not asked: a member that is away for long takes a snapshot then. The primary's own
// bookmark is never passed.
//
// A reader proves by the record of its bookmark that it stands in this log, so that record is
// needed too: what may go ends *before* it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "storage/replication/member_registry.h"

namespace weir::storage::replication {

struct TrimOptions {
  uint64_t retained_bytes = 1024 * 1024 * 1024;
  uint64_t bytes_max = uint64_t{16} * 1024 * 1024 * 1024;
};

class Trimming {
 public:
  explicit Trimming(const TrimOptions& options);

  // A record stands at this log index. After a rewind log indexes come again.
  void note(uint64_t log_index, size_t bytes);
  // Answers the log index up to which records may go; 0: none. `own_bookmark` is the log index of
  // the bookmark up to which everything is in the primary's state files. Of records that were there
  // before this process began to note, no size is known, so nothing goes until enough came after
  // them.
  uint64_t up_to(uint64_t own_bookmark, const RegistryView& registry) const;

 private:
  // Records that follow one another; single ones would be many.
  struct Stretch {
    uint64_t last_log_index = 0;
    uint64_t bytes = 0;
  };
  static constexpr uint64_t kStretches = 64;  // that the retained bytes are counted in

  // The log index after which the newest `bytes` bytes lie.
  uint64_t before_newest(uint64_t bytes) const;

  const TrimOptions options_;
  std::deque<Stretch> stretches_;
  uint64_t bytes_ = 0;  // of all stretches
};

}  // namespace weir::storage::replication
