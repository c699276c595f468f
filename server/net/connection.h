// One accepted connection: what its stream receives goes to the session, and what the session
// releases goes to the stream; through a protocol adapter where the client speaks another protocol.
//
// Invariants
// 1. Nothing here blocks; a turn reads a connection once, into a buffer that all connections share,
//    and a flush sends what its owner allows.
// 2. While the peer does not take its replies, or requests are kept for later, no more is read from
//    it.
// 3. A connection ends in its own on_ready(), flush() or abandon(), never in another connection's.
// 4. What the descriptor is watched for follows from what the stream's last recv() and send() asked
//    for, because either may wait for the other's direction (byte_stream.h). While that is so, both
//    are repeated whatever the descriptor is ready for: one may have used up what the other needed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "server/net/byte_stream.h"
#include "server/net/watcher.h"
#include "server/session/protocol_adapter.h"
#include "server/session/session.h"

namespace weir::server {

// Is asked how much a connection may send, and told when it is over.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // The most bytes that one flush() sends, so that others are served, too. It may change.
  virtual size_t send_bytes_max() const = 0;
  // The connection is about to use so many bytes that it has read.
  virtual void note_received(size_t bytes) = 0;
  // The connection does nothing any more, but its descriptor stays open until it is destroyed.
  virtual void on_closed(std::unique_ptr<Connection> connection) = 0;
};

class Connection final : public Transport {
 public:
  // Makes a connection, which lives until it is closed.
  // Without an adapter the client speaks the Redis protocol.
  static void open(std::unique_ptr<ByteStream> stream, Session* session, ConnectionOwner* owner,
                   Watcher* watcher, std::unique_ptr<ProtocolAdapter> adapter = nullptr);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Tells whether on_ready() would read bytes of requests, which read_ahead() may read before.
  bool can_read_ahead(Interest can) const {
    return can.read && self_ != nullptr && adapter_ == nullptr && !recv_wants_write_ &&
           !send_wants_read_;
  }
  // Reads once, into `buffer`, and answers how many bytes came. Whatever became of it is what the
  // next on_ready() has read. REQUIRES: the bytes stay until then; nothing was read ahead yet.
  size_t read_ahead(std::span<char> buffer);
  bool has_read_ahead() const { return ahead_.has_value(); }
  std::string_view bytes_ahead() const {
    return ahead_ ? std::string_view(ahead_->bytes, ahead_->transfer.bytes) : std::string_view();
  }
  // Goes on with what `can` makes possible. Reads at most once, into `buffer`, unless it has read
  // ahead, and runs the requests that have come in whole; with an empty buffer it does not read.
  // The connection may be gone afterwards.
  void on_ready(Interest can, std::span<char> buffer, size_t commands_max);
  // Closes if the session has come to its end; reads on if there is room.
  void flush() override;
  void abandon() override { close(); }
  size_t memory_bytes() const override;
  Session* session() const { return session_; }

 private:
  Connection(std::unique_ptr<ByteStream> stream, Session* session, ConnectionOwner* owner,
             Watcher* watcher, std::unique_ptr<ProtocolAdapter> adapter)
      : stream_(std::move(stream)),
        session_(session),
        adapter_(std::move(adapter)),
        owner_(owner),
        watcher_(watcher) {}

  struct Read {
    Transfer transfer;
    const char* bytes;
  };

  bool takes_more() const;
  bool has_more() const;
  // Answers whether the session was given bytes: its part in the turn ends with a flush().
  bool receive(std::span<char> buffer, size_t commands_max);
  void hand_over(std::string_view bytes, size_t commands_max);
  std::string_view output() const;
  void mark_sent(size_t bytes);
  // Answers whether the stream still works.
  bool send_released();
  bool watch(Interest interest);
  bool wait_for_more();
  // What the adapter keeps falls under the session's account.
  void count_adapter();
  void close();

  std::unique_ptr<Connection> self_;
  const std::unique_ptr<ByteStream> stream_;
  Session* const session_;
  const std::unique_ptr<ProtocolAdapter> adapter_;  // may be null
  ConnectionOwner* const owner_;
  Watcher* const watcher_;
  Interest interest_;
  bool recv_wants_write_ = false;
  bool send_wants_read_ = false;
  size_t bytes_to_repeat_ = 0;  // of the send that has to be repeated
  std::optional<Read> ahead_;
};

}  // namespace weir::server
