#include "server/net/socket_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace weir::server {
namespace {

// REQUIRES: a call on the socket has just failed.
Transfer failed(Transfer::Result wanted) {
  const bool waits = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {.result = waits ? wanted : Transfer::Result::kBroken};
}

}  // namespace

SocketStream::~SocketStream() { ::close(descriptor_); }

Transfer SocketStream::recv(std::span<char> buffer) {
  const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0) return failed(Transfer::Result::kWantsRead);
  if (size == 0) return {.result = Transfer::Result::kEnded};
  return {.result = Transfer::Result::kMoved, .bytes = static_cast<size_t>(size)};
}

Transfer SocketStream::send(std::string_view bytes) {
  const ssize_t size = ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (size < 0) return failed(Transfer::Result::kWantsWrite);
  return {.result = Transfer::Result::kMoved, .bytes = static_cast<size_t>(size)};
}

}  // namespace weir::server
