// What carries the bytes of one connection: a plain socket, or a protocol on top of one.
//
// Invariants
// 1. No call blocks. Each answers what has happened, or for what the caller has to wait before it
//    repeats the call.
// 2. Either call may need either direction of the descriptor: with TLS a receiver may have to send
//    part of a handshake first, and a sender may have to receive. The caller therefore waits for
//    what the answer names, never for what the call's own name suggests.
// 3. After send() has asked to wait, the bytes of the next send() begin with the same bytes and are
//    no fewer, because a protocol may have packed them already.
// 4. The stream owns the descriptor and closes it in its destructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::server {

struct Transfer {
  enum class Result : uint8_t {
    kMoved,       // at least one byte
    kWantsRead,   // nothing: repeat the call when the descriptor is readable
    kWantsWrite,  // nothing: repeat the call when the descriptor is writable
    kEnded,       // the peer has sent its last byte and may still receive
    kBroken,      // neither direction works any more
  };

  Result result;
  size_t bytes = 0;  // moved
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // REQUIRES: neither span is empty. kEnded is an answer of recv() alone.
  virtual Transfer recv(std::span<char> buffer) = 0;
  virtual Transfer send(std::string_view bytes) = 0;
  // Whether the stream has bytes to hand out that it took from the descriptor before: the
  // descriptor does not become readable because of them.
  virtual bool holds_input() const = 0;
  virtual int descriptor() const = 0;
  // Answers about how much memory the stream takes, itself included.
  virtual size_t memory_bytes() const = 0;
};

}  // namespace weir::server
