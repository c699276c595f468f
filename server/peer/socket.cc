#include "server/peer/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/time_units.h"

namespace weir::server {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

}  // namespace

Result<storage::Descriptor, std::string> connect_socket(
    const std::string& host, int port, int64_t patience_ms,
    const std::function<bool(int descriptor)>& on_socket) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) return std::string(::gai_strerror(failure));
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    storage::Descriptor made(
        ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (!made.ok()) {
      error = errno;
      continue;
    }
    if (on_socket && !on_socket(made.get())) return std::string("it was given up in between");
    const timeval patience{.tv_sec = patience_ms / kMsPerS,
                           .tv_usec = patience_ms % kMsPerS * kUsPerMs};
    ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(made.get(), at->ai_addr, at->ai_addrlen) == 0) return made;
    error = errno;
    if (on_socket) (void)on_socket(-1);
  }
  return std::string(std::strerror(error));
}

}  // namespace weir::server
