// What stands between a connection and its session where the client does not speak the Redis
// protocol: it makes requests of the client's bytes (Session::submit) and bytes of their replies.
// The connection moves the bytes. Without an adapter the session reads and writes by itself. It
// is an interface so that a connection knows no protocol.
//
// Invariants
// 1. The session has a part in the turn in which receive() was called, so that the turn's end
//    flushes the connection.
// 2. What was committed is told no earlier than the session's own replies leave: an adapter knows
//    of a reply from its sink only.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::server {

class ProtocolAdapter {
 public:
  virtual ~ProtocolAdapter() = default;

  // Takes the bytes that were read, none if has_more() was true.
  virtual void receive(std::string_view bytes) = 0;
  // The most bytes that one receive() should be given.
  virtual size_t receive_bytes_max() const = 0;
  // Whether it may go on with what it has received already.
  virtual bool has_more() const = 0;
  // Whether more bytes should be read.
  virtual bool takes_more() const = 0;

  // Answers what may be sent next, and takes note of how much of it has left.
  virtual std::string_view output() const = 0;
  virtual void mark_sent(size_t bytes) = 0;

  // What it takes in memory with all that it keeps; the connection writes it down to the session's
  // account.
  virtual size_t memory_bytes() const = 0;
};

}  // namespace weir::server
