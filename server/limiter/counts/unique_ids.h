// Numbers that are never used twice, over restarts and crashes: the versions of policies. A system
// record holds a bound that no number has reached; it is raised by a block at a time.
//
// Where policies belong to a cluster of shards the numbers are counter x 1024 + ten bits of the
// shard. The counter is one more than any that was seen, so what is later has the higher number,
// and no two shards draw the same unless they have the same ten bits.
#pragma once

#include <cstdint>

#include "storage/keyspace/keyspace.h"

namespace weir::server {

class UniqueIds {
 public:
  static constexpr uint64_t kShardsOfVersions = 1024;

  explicit UniqueIds(storage::Keyspace* keys) : keys_(*keys) {}

  // Answers a number of 1 or more, larger than any before.
  int64_t next();
  // From now on numbers have these bits. REQUIRES: below kShardsOfVersions.
  void draw_for_shard(uint64_t shard) {
    shard_ = shard;
    is_of_shard_ = true;
  }
  // Another shard has drawn this number: those from now on are higher.
  void see(uint64_t number);
  // Forgets what was learnt of the keyspace, which others have changed.
  void forget() { next_ = 0; }

 private:
  // The next number is this or a higher one, and the record's bound is above it.
  void raise_to(uint64_t number);

  storage::Keyspace& keys_;
  uint64_t next_ = 0;  // 0: not known yet
  uint64_t shard_ = 0;
  bool is_of_shard_ = false;
};

}  // namespace weir::server
