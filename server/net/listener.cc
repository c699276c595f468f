#include "server/net/listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>

#include "server/net/socket_stream.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

namespace asio = boost::asio;

std::string show(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(ntohs(in6.sin6_port));
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(in.sin_addr.s_addr) >> 24) == 127;
  }
  if (address.ss_family != AF_INET6) return false;
  const in6_addr& in6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&in6) || (IN6_IS_ADDR_V4MAPPED(&in6) && in6.s6_addr[12] == 127);
}

void set_options(int descriptor, int64_t keepalive_s) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (keepalive_s <= 0) return;
  const int idle_s = static_cast<int>(keepalive_s);
  const int interval_s = std::max(1, idle_s / 3);
  const int probes = 3;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

}  // namespace

Listener::Listener(asio::io_context* io, const Config& config, OnAccept on_accept)
    : io_(*io), config_(config), on_accept_(std::move(on_accept)), retry_(*io) {}

std::string Listener::open() {
  if (config_.port != 0) {
    for (const std::string& address : config_.bind) {
      if (std::string error = open_tcp(address); !error.empty()) return error;
    }
  }
  if (!config_.unixsocket.empty()) {
    if (std::string error = open_unix(); !error.empty()) return error;
  }
  if (acceptors_.empty())
    return "nothing to listen on: port is 0 or no bind address is usable, and unixsocket is not "
           "set";
  for (Acceptor& acceptor : acceptors_) accept(&acceptor);
  return {};
}

std::string Listener::open_tcp(std::string address) {
  const bool optional = address.starts_with("-");
  if (optional) address.erase(0, 1);
  if (address == "*") address = "0.0.0.0";
  if (address == "::*") address = "::";
  asio::ip::tcp::resolver resolver(io_);
  boost::system::error_code error;
  const auto found = resolver.resolve(address, std::to_string(config_.port),
                                      asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    return optional ? std::string()
                    : "cannot resolve bind address '" + address + "': " + error.message();
  }
  const asio::ip::tcp::endpoint endpoint = found.begin()->endpoint();
  acceptors_.emplace_back(io_);
  std::string failure =
      listen(&acceptors_.back(), endpoint, address + ":" + std::to_string(config_.port));
  if (failure.empty()) return {};
  acceptors_.pop_back();
  if (!optional) return failure;
  spdlog::info("{} (optional, skipped)", failure);
  return {};
}

std::string Listener::open_unix() {
  const std::string& path = config_.unixsocket;
  struct stat existing {};
  if (lstat(path.c_str(), &existing) == 0) {
    if (!S_ISSOCK(existing.st_mode)) return "unixsocket '" + path + "' exists and is not a socket";
    unlink(path.c_str());
  }
  acceptors_.emplace_back(io_);
  if (std::string error =
          listen(&acceptors_.back(), asio::local::stream_protocol::endpoint(path), path);
      !error.empty()) {
    return error;
  }
  if (chmod(path.c_str(), static_cast<mode_t>(config_.unixsocketperm)) != 0) {
    return "cannot set the permissions of '" + path + "'";
  }
  return {};
}

std::string Listener::listen(Acceptor* acceptor, const Protocol::endpoint& endpoint,
                             const std::string& shown) {
  boost::system::error_code error;
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.protocol().family() == AF_INET6)
    acceptor->set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(static_cast<int>(config_.tcp_backlog), error);
  if (!error) acceptor->non_blocking(true, error);
  if (error) return "cannot listen on " + shown + ": " + error.message();
  addresses_ += (addresses_.empty() ? "" : ", ") + shown;
  return {};
}

void Listener::close() {
  retry_.cancel();
  acceptors_.clear();
  if (!config_.unixsocket.empty()) unlink(config_.unixsocket.c_str());
}

void Listener::accept(Acceptor* acceptor) {
  acceptor->async_accept(
      [this, acceptor](boost::system::error_code error, Protocol::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (!error) {
          accepted(std::move(socket));
          return accept(acceptor);
        }
        // If no descriptor is left, for instance, trying again at once would spin.
        spdlog::warn("a connection could not be accepted: {}", error.message());
        retry_.expires_after(std::chrono::milliseconds(100));
        retry_.async_wait([this, acceptor](boost::system::error_code cancelled) {
          if (!cancelled) accept(acceptor);
        });
      });
}

void Listener::accepted(Protocol::socket socket) {
  sockaddr_storage remote{};
  sockaddr_storage local{};
  socklen_t remote_size = sizeof remote;
  socklen_t local_size = sizeof local;
  const int descriptor = socket.native_handle();
  getpeername(descriptor, reinterpret_cast<sockaddr*>(&remote), &remote_size);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &local_size);
  Peer peer;
  peer.descriptor = descriptor;
  peer.unix_socket = local.ss_family == AF_UNIX;
  if (peer.unix_socket) {
    peer.address = peer.local_address = config_.unixsocket + ":0";
  } else {
    peer.address = show(remote);
    peer.local_address = show(local);
    peer.loopback = is_loopback(remote);
    set_options(descriptor, config_.tcp_keepalive);
  }
  on_accept_(std::make_unique<SocketStream>(socket.release()), std::move(peer));
}

}  // namespace weir::server
