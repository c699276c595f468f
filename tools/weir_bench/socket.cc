#include "tools/weir_bench/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weir::bench {

Result<int, std::string> connect_to(const std::string& host, int64_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return "--host must be a numeric IPv4 address, got '" + host + "'";
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 ||
      connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int why = errno;
    if (descriptor >= 0) close(descriptor);
    return "cannot connect to " + host + ":" + std::to_string(port) + ": " + strerror(why);
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return descriptor;
}

resp::Value ask(int descriptor, const std::string& request) {
  resp::Value value;
  std::string received;
  char piece[4096];
  size_t used = 0;
  ssize_t size = send(descriptor, request.data(), request.size(), MSG_NOSIGNAL);
  while (size > 0) {
    size = recv(descriptor, piece, sizeof piece, 0);
    if (size <= 0) break;
    received.append(piece, static_cast<size_t>(size));
    if (resp::decode(received, &value, &used) == resp::DecodeStatus::kValue) return value;
  }
  value.type = resp::Value::Type::kError;
  value.text = "the server does not answer";
  return value;
}

}  // namespace weir::bench
