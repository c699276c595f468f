// The account of what a session has the server keep for it beside its buffers, in bytes of memory.
//
// Whoever keeps something for a session writes down here what that takes, and again when it takes
// more, or less, or nothing. The sum is at hand at any time; the session tells the server of it
// together with its buffers (Session::count_bytes), so that all of it falls under
// maxmemory-clients. A bound on buffers alone would let few clients that wait for keys of megabytes
// hold gigabytes. A name that several sessions share counts for each, because each may be the last
// who keeps it; names that tracking sessions have read count once, because many of them read the
// same keys (shared_names.h).
//
// Invariant: the sum is that of the items. An item belongs to one keeper.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::server {

enum class Kept : uint8_t {
  kSession,          // the session and its connection
  kProtocolAdapter,  // of a client that speaks HTTP: its requests and answers
  kNames,            // the client's name, and those of its library
  kQueued,           // what was queued since MULTI
  kWatches,          // the keys of WATCH
  kSubscriptions,    // channels and patterns
  kPrefixes,         // of CLIENT TRACKING BCAST
  kWait,             // the request of a blocked session, and its places in queues
};
inline constexpr size_t kKeptItems = 8;

class KeptBytes {
 public:
  size_t of(Kept item) const { return items_[static_cast<size_t>(item)]; }
  size_t sum() const { return sum_; }

  void set(Kept item, size_t bytes) {
    size_t& kept = items_[static_cast<size_t>(item)];
    sum_ += bytes - kept;  // modulo 2^64
    kept = bytes;
  }
  void add(Kept item, size_t bytes) { set(item, of(item) + bytes); }
  // REQUIRES: so many were added.
  void take(Kept item, size_t bytes) { set(item, of(item) - bytes); }

  // What of the session, its buffers included, the server has counted; 0: nothing, or not any more.
  size_t counted = 0;
  // Where the server's lists of sessions by that number have this one
  // (core/clients/sessions_by_size.h).
  struct Place {
    static constexpr uint8_t kNowhere = 0xff;

    uint8_t list = kNowhere;
    size_t at = 0;
  };
  Place place;

 private:
  std::array<size_t, kKeptItems> items_{};
  size_t sum_ = 0;
};

}  // namespace weir::server
