// Numbers that are never used twice, over restarts and crashes: the versions of policies. A system
// record holds a bound that no number has reached; it is raised by a block at a time.
#pragma once

#include <cstdint>

#include "storage/keyspace/keyspace.h"

namespace weir::server {

class UniqueIds {
 public:
  explicit UniqueIds(storage::Keyspace* keys) : keys_(*keys) {}

  // Answers a number of 1 or more, larger than any before.
  int64_t next();
  // Forgets what was learnt of the keyspace, which others have changed.
  void forget() { next_ = 0; }

 private:
  storage::Keyspace& keys_;
  uint64_t next_ = 0;  // 0: not known yet
};

}  // namespace weir::server
