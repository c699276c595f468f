// The ids of leases and bookings: 1 to 2^53 - 1, so that clients may keep them in doubles.
//
// They are drawn at random, so that an id tells nothing about others, cannot be guessed, and means
// nothing on a server that did not draw it: a key may be dumped on one server and restored on
// another. The caller draws again if the key already has the id.
#pragma once

#include <cstdint>

#include "storage/format/key_order.h"

namespace weir::server {

class RandomIds {
 public:
  // The seed is a secret: it tells all ids.
  explicit RandomIds(const storage::HashSeed& seed) : seed_(seed) {}

  int64_t draw();
  // Makes ids count up from now on, so that tests can name them.
  void count_up() { counts_up_ = true; }

  // Answers an instant for who joins a queue or books now. No two are the same, so that they
  // tell who came first.
  int64_t unique_ns(int64_t now_ns) {
    last_unique_ns_ = now_ns > last_unique_ns_ ? now_ns : last_unique_ns_ + 1;
    return last_unique_ns_;
  }

 private:
  storage::HashSeed seed_;
  uint64_t drawn_ = 0;
  bool counts_up_ = false;
  int64_t last_unique_ns_ = 0;
};

}  // namespace weir::server
