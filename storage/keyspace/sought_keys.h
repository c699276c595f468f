// Keys that commands will look up soon. What the look-ups will read is brought into the processor's
// caches, for all keys at the same time.
//
// A look-up finds the segment in a directory, the bucket in the segment, and the entry in the
// bucket. In a table that is larger than the caches it therefore waits for memory several times,
// one time after the other. fetch() takes each of these steps for all keys before it takes the next
// one, and asks for the memory without waiting for it; so the keys wait together. What is given up
// is that each key is hashed once more.
//
// Source: S. Chen, A. Ailamaki, P. Gibbons, T. Mowry, Improving Hash Join Performance through
// Prefetching, 2004 ("group prefetching").
//
// Invariants
// 1. It changes nothing, and no look-up asks it for anything. So it does not matter whether a key
//    is looked up later, or whether its entry is there still.
// 2. It reads no memory that may have been freed, because between add() and fetch() it keeps no
//    pointer: only databases and key orders.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "storage/keyspace/keyspace.h"

namespace weir::storage {

class SoughtKeys {
 public:
  // Processors can wait for about half as many reads of memory at once.
  static constexpr size_t kMax = 32;

  explicit SoughtKeys(const Keyspace* keys) : set_(keys->set_) {}

  // Once there are kMax, further keys are passed over. REQUIRES: the database exists.
  void add(int database, std::string_view key) {
    if (count_ == kMax) return;
    keys_[count_++] = {.database = database, .key_order = key_order_of(key, set_.seed())};
  }
  bool full() const { return count_ == kMax; }
  // Fetches what the look-ups of the keys will read, and forgets the keys. Answers how many of them
  // have an entry in memory, as far as it has searched. While the working set is not usable it does
  // nothing.
  size_t fetch();

 private:
  struct Sought {
    int database;
    KeyOrder key_order;
  };

  const WorkingSet& set_;
  size_t count_ = 0;
  std::array<Sought, kMax> keys_;
};

}  // namespace weir::storage
