// Connections of a turn that are read before the first of them is served. So it is known early
// which keys they ask for, and what those look up is fetched for all of them together
// (storage/keyspace/sought_keys.h).
//
//     is_full()  add() ... expect()   take() ...
//
// Invariants
// 1. They are served in the order in which they were added, which is that in which they were ready.
// 2. From each it is read at most once, as much as without a batch: what one has sent does not lie
//    where another one's bytes may come.
// 3. A turn may end before all are served. The rest is served first in the next one, and was not
//    charged to this one.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "server/net/connection.h"
#include "server/net/poller.h"

namespace weir::server {

class ReadBatch {
 public:
  // Sets how many bytes are read from one connection. While any are left, nothing changes.
  void set_read_bytes_max(size_t bytes);

  bool is_empty() const { return begin_ == end_; }
  bool is_full() const { return end_ == kConnectionsMax || used_ >= kBytesMax; }
  // Reads from a connection. REQUIRES: !is_full() and connection->can_read_ahead(can).
  void add(Connection* connection, Interest can);
  // Where the bytes of one more connection may come, in the batch or beside it.
  std::span<char> room() { return {&buffer_[used_], read_bytes_max_}; }
  // Fetches what the first requests of all look up. Once all were asked it does nothing.
  void expect(SessionHost* host);

  // Those that are left.
  std::span<const Poller::Ready> rest() const {
    return std::span(connections_).subspan(begin_, end_ - begin_);
  }
  // Takes them out of a list of those that are ready, since they are read once in a turn and may
  // end here. Answers what stays.
  std::span<const Poller::Ready> without_rest(std::span<Poller::Ready> ready) const;
  // Takes the first of them. Its bytes stay until the next add(). REQUIRES: !is_empty().
  Poller::Ready take();
  // Forgets a connection that ends.
  void forget(const Connection* connection);

 private:
  static constexpr size_t kConnectionsMax = 16;
  // Once so much is read no more connections are: a session that has sent many requests looks ahead
  // by itself.
  static constexpr size_t kBytesMax = 64 << 10;

  std::array<Poller::Ready, kConnectionsMax> connections_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool is_expected_ = false;
  size_t used_ = 0;  // of the buffer
  size_t read_bytes_max_ = 0;
  std::unique_ptr<char[]> buffer_;  // has room for one read after that which has filled the batch
};

}  // namespace weir::server
