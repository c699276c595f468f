// What tests of real sockets need: free ports, folders that go, and clients that wait.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

namespace weir::server {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path;
};

inline sockaddr_in on_this_machine(int port, const char* host = "127.0.0.1") {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

// None of those that Linux gives to connections on their way out, as those of other tests are.
inline int64_t free_port() {
  std::random_device random;
  for (;;) {
    const int port = 10'000 + static_cast<int>(random() % 22'000);
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = on_this_machine(port);
    const bool is_free =
        ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    if (is_free) return port;
  }
}

inline int option_of(int descriptor, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(descriptor, level, name, &value, &size), 0);
  return value;
}

// A client that waits ten seconds at most.
class ClientSocket {
 public:
  explicit ClientSocket(int64_t port, const std::string& host = "127.0.0.1") {
    if (host.find(':') == std::string::npos) {
      const sockaddr_in address = on_this_machine(static_cast<int>(port), host.c_str());
      connect(AF_INET, 0, &address, sizeof address);
      return;
    }
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET6, host.c_str(), &address.sin6_addr);
    connect(AF_INET6, 0, &address, sizeof address);
  }
  explicit ClientSocket(const std::string& path, int type = 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connect(AF_UNIX, type, &address, sizeof address);
  }
  ~ClientSocket() { ::close(descriptor_); }
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  bool connected() const { return connected_; }
  int descriptor() const { return descriptor_; }
  std::string local_address() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  void write(std::string_view bytes) const {
    EXPECT_EQ(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Waits for so many bytes; fewer if the peer closes before.
  std::string read(size_t size) const {
    std::string bytes(size, '\0');
    size_t came = 0;
    while (came < size) {
      const ssize_t next = ::recv(descriptor_, bytes.data() + came, size - came, 0);
      if (next <= 0) break;
      came += static_cast<size_t>(next);
    }
    bytes.resize(came);
    return bytes;
  }
  std::string call(std::string_view bytes, size_t reply_size) const {
    write(bytes);
    return read(reply_size);
  }
  // Everything up to the end; what is not over in ten seconds fails.
  std::string read_to_end() const {
    std::string bytes;
    char piece[65536];
    ssize_t next = 0;
    while ((next = ::recv(descriptor_, piece, sizeof piece, 0)) > 0) bytes.append(piece, next);
    EXPECT_TRUE(next == 0 || errno == ECONNRESET) << errno;
    return bytes;
  }
  void close_half() const { EXPECT_EQ(::shutdown(descriptor_, SHUT_WR), 0); }
  // Ends the connection with a reset.
  void reset() {
    const linger now = {.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  void connect(int family, int type, const void* address, socklen_t size) {
    descriptor_ = ::socket(family, SOCK_STREAM | type | SOCK_CLOEXEC, 0);
    const timeval patience = {.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(descriptor_, static_cast<const sockaddr*>(address), size) == 0;
  }

  int descriptor_ = -1;
  bool connected_ = false;
};

}  // namespace weir::server
