// A connected stream socket as it is, TCP or unix.
//
// Invariants
// 1. It keeps no bytes of its own, so recv() wants to read and send() wants to write, and nothing
//    else.
// 2. It sets no option of the socket: the calls themselves say that they must not wait.
#pragma once

#include "base/heap_bytes.h"
#include "server/net/byte_stream.h"

namespace weir::server {

class SocketStream : public ByteStream {
 public:
  // Takes the descriptor over.
  explicit SocketStream(int descriptor) : descriptor_(descriptor) {}
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  Transfer recv(std::span<char> buffer) override;
  Transfer send(std::string_view bytes) override;
  bool holds_input() const override { return false; }
  int descriptor() const override { return descriptor_; }
  size_t memory_bytes() const override { return block_bytes(sizeof(*this)); }

 private:
  const int descriptor_;
};

}  // namespace weir::server
