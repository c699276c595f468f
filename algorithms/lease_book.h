// The leases of CONCURRENCY as Entries, with the sums that keep it from walking all of them.
//
// A lease is an entry {lease id, instant of expiry, permits}. Leases end in the order of expiry but
// may be given back in any, so running totals would not do. Instead leases are gathered in chunks,
// in order of expiry, and the sum of each chunk is an entry too, sorted before all leases:
//
//     entries   c1 c2 | l l l l l l l l | l l l l l l l | l l l
//                      \____ c1 _______/ \___ c2 ______/ \tail/ (its sum is in the State)
//
// A question walks some chunks, and the leases of one. There are no chunks up to kChunkLeases
// leases.
//
// It must not know the limit, and changes something only when told to add, remove or prune.
//
// Invariants
//  1. A lease has id > 0 and at_ns >= 0. A chunk that ends with the leases that expire at c has
//     at_ns = id = c + INT64_MIN, which is below 0.
//  2. A chunk's permits are the sum of the leases after the previous chunk's c, up to its own c.
//  3. Two neighbouring chunks have more than kChunkLeases leases together, so there are at most
//     2 * leases / kChunkLeases of them.
//  4. A lease that expires at t counts before t, and not at t.
#pragma once

#include <cstdint>
#include <limits>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

// The at_ns of a chunk that ends with the leases which expire at end_ns.
inline constexpr int64_t chunk_key(int64_t end_ns) {
  return end_ns + std::numeric_limits<int64_t>::min();
}

inline constexpr size_t kChunkLeases = 1'024;
inline constexpr int kLeasesPrunedMax = 16;

class LeaseBook {
 public:
  // Null entries mean none, which is enough for questions.
  LeaseBook(const State& state, Entries* entries);

  State state() const { return {.words = {sum_, latest_ns_, tail_}}; }
  // The last expiry of all; 0 if there is no lease.
  int64_t latest_ns() const { return latest_ns_; }

  // Answers the permits of the leases that have not expired.
  int64_t live_at(int64_t now_ns) const;
  // Answers the expiry with which so many permits have come back. REQUIRES: 1 <= permits <= live.
  int64_t back_at(int64_t now_ns, int64_t permits) const;

  void add(const LogEntry& lease);
  void remove(const LogEntry& lease);
  // Removes leases that have expired, at most kLeasesPrunedMax.
  void prune(int64_t now_ns);

 private:
  struct Expired {
    size_t chunks = 0;    // chunks that have expired as a whole
    size_t first = 0;     // the rank of the first live lease
    int64_t in_next = 0;  // expired permits of the chunk after those, or of the tail
    int64_t permits = 0;  // all expired permits
  };

  size_t chunks() const { return entries_->lower_bound(0); }
  size_t chunk_of(int64_t at_ns) const;
  size_t first_lease_of(size_t chunk) const;
  size_t leases_in(size_t chunk) const { return first_lease_of(chunk + 1) - first_lease_of(chunk); }
  int64_t sum_of(size_t chunk) const;
  void add_to_chunk(size_t chunk, int64_t permits);
  void merge_if_small(size_t chunk);
  Expired expired_at(int64_t now_ns) const;

  Entries* entries_;
  int64_t sum_;        // permits of all leases there are, expired ones included
  int64_t latest_ns_;  // the last expiry
  int64_t tail_;       // permits of the leases after the last chunk
};

}  // namespace weir::algorithms
