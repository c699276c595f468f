#include "server/net/listener.h"

#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <chrono>

#include "server/net/socket_stream.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kRetryAfter = std::chrono::milliseconds(100);

// A whole number that is an option of TCP, in the form that Asio's set_option() takes.
template <int Name>
class TcpNumber {
 public:
  explicit TcpNumber(int value) : value_(value) {}

  template <typename Protocol>
  int level(const Protocol&) const {
    return IPPROTO_TCP;
  }
  template <typename Protocol>
  int name(const Protocol&) const {
    return Name;
  }
  template <typename Protocol>
  const void* data(const Protocol&) const {
    return &value_;
  }
  template <typename Protocol>
  size_t size(const Protocol&) const {
    return sizeof value_;
  }

 private:
  int value_;
};

std::string show(const asio::ip::tcp::endpoint& endpoint) {
  const std::string port = ":" + std::to_string(endpoint.port());
  if (endpoint.address().is_v4()) return endpoint.address().to_string() + port;
  asio::ip::address_v6 address = endpoint.address().to_v6();
  address.scope_id(0);
  return "[" + address.to_string() + "]" + port;
}

bool is_loopback(const asio::ip::address& address) {
  if (address.is_v4() || !address.to_v6().is_v4_mapped()) return address.is_loopback();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

// What cannot be set is left as it is: the connection works without.
void set_options(asio::ip::tcp::socket* socket, int64_t keepalive_s) {
  error_code ignored;
  socket->set_option(asio::ip::tcp::no_delay(true), ignored);
  if (keepalive_s <= 0) return;
  const int idle_s = static_cast<int>(keepalive_s);
  socket->set_option(asio::socket_base::keep_alive(true), ignored);
  socket->set_option(TcpNumber<TCP_KEEPIDLE>(idle_s), ignored);
  socket->set_option(TcpNumber<TCP_KEEPINTVL>(std::max(1, idle_s / 3)), ignored);
  socket->set_option(TcpNumber<TCP_KEEPCNT>(3), ignored);
}

error_code listen_on(asio::ip::tcp::acceptor* acceptor, const asio::ip::tcp::endpoint& endpoint,
                     int backlog) {
  error_code error;
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor->set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(backlog, error);
  return error;
}

error_code listen_on(asio::local::stream_protocol::acceptor* acceptor, const std::string& path,
                     mode_t mode, int backlog) {
  error_code error;
  acceptor->open(asio::local::stream_protocol(), error);
  if (!error) acceptor->bind(asio::local::stream_protocol::endpoint(path), error);
  if (!error && ::chmod(path.c_str(), mode) != 0)
    error.assign(errno, boost::system::system_category());
  if (!error) acceptor->listen(backlog, error);
  return error;
}

std::string_view name_of(ConnectionType type) {
  switch (type) {
    case ConnectionType::kTls:
      return " (TLS)";
    case ConnectionType::kHttp:
      return " (HTTP)";
    case ConnectionType::kHttps:
      return " (HTTPS)";
    case ConnectionType::kMetrics:
      return " (metrics)";
    case ConnectionType::kMetricsTls:
      return " (metrics over TLS)";
    case ConnectionType::kGrpc:
      return " (gRPC)";
    case ConnectionType::kGrpcTls:
      return " (gRPC over TLS)";
    case ConnectionType::kTcp:
    case ConnectionType::kUnixSocket:
      break;
  }
  return "";
}

}  // namespace

Listener::Listener(asio::io_context* io, const Config& config, OnAccept on_accept)
    : io_(*io), config_(config), on_accept_(std::move(on_accept)) {}

Result<void, std::string> Listener::open() {
  const struct {
    const std::vector<std::string>& addresses;
    int64_t port;
    ConnectionType type;
  } wanted[] = {
      {config_.bind, config_.port, ConnectionType::kTcp},
      {config_.bind, config_.tls_port, ConnectionType::kTls},
      {config_.http_bind, config_.http_port, ConnectionType::kHttp},
      {config_.http_bind, config_.http_tls_port, ConnectionType::kHttps},
      {config_.grpc_bind, config_.grpc_port, ConnectionType::kGrpc},
      {config_.grpc_bind, config_.grpc_tls_port, ConnectionType::kGrpcTls},
      {config_.metrics_bind, config_.metrics_port, ConnectionType::kMetrics},
      {config_.metrics_bind, config_.metrics_tls_port, ConnectionType::kMetricsTls},
  };
  for (const auto& [addresses, port, type] : wanted) {
    if (auto opened = open_sockets(addresses, port, type); !opened) return opened;
  }
  if (!config_.unixsocket.empty()) {
    if (auto opened = open_unix(); !opened) return opened;
  }
  if (!serves_requests())
    return "nothing to listen on: port and tls-port are 0 or no bind address is usable, and "
           "unixsocket, http-port and grpc-port are not set";
  for (ListeningSocket<Tcp>& listening : tcp_sockets_) accept(&listening);
  for (ListeningSocket<Unix>& listening : unix_sockets_) accept(&listening);
  return {};
}

Result<void, std::string> Listener::open_sockets(const std::vector<std::string>& addresses,
                                                 int64_t port, ConnectionType type) {
  if (port == 0) return {};
  const size_t before = tcp_sockets_.size();
  for (const std::string& address : addresses) {
    if (auto opened = open_tcp(address, port, type); !opened) return opened;
  }
  if (is_for_metrics(type) && tcp_sockets_.size() == before)
    return "metrics-port is set, but no address of metrics-bind is usable";
  return {};
}

bool Listener::serves_requests() const {
  const auto serves = [](const ListeningSocket<Tcp>& listening) {
    return !is_for_metrics(listening.type);
  };
  return !unix_sockets_.empty() || std::any_of(tcp_sockets_.begin(), tcp_sockets_.end(), serves);
}

Result<void, std::string> Listener::open_tcp(std::string address, int64_t port,
                                             ConnectionType type) {
  const bool optional = address.starts_with("-");
  if (optional) address.erase(0, 1);
  if (address == "*") address = "0.0.0.0";
  if (address == "::*") address = "::";
  Tcp::resolver resolver(io_);
  error_code error;
  const auto found =
      resolver.resolve(address, std::to_string(port), asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    if (optional) return {};
    return "cannot resolve bind address '" + address + "': " + error.message();
  }
  ListeningSocket<Tcp>& listening = tcp_sockets_.emplace_back(io_, type);
  error = listen_on(&listening.acceptor, *found.begin(), static_cast<int>(config_.tcp_backlog));
  const std::string_view what = name_of(type);
  auto opened = note_opened(error, address + ":" + std::to_string(port) + std::string(what));
  if (opened) return opened;
  tcp_sockets_.pop_back();
  if (!optional) return opened;
  log_info("{} (optional, skipped)", opened.error());
  return {};
}

Result<void, std::string> Listener::open_unix() {
  const std::string& path = config_.unixsocket;
  struct stat existing {};
  if (::lstat(path.c_str(), &existing) == 0) {
    if (!S_ISSOCK(existing.st_mode)) return "unixsocket '" + path + "' exists and is not a socket";
    ::unlink(path.c_str());
  }
  // Asio throws for a path that the system's structure has no room for.
  constexpr size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kPathBytesMax)
    return note_opened(asio::error::make_error_code(asio::error::name_too_long), path);
  const error_code error =
      listen_on(&unix_sockets_.emplace_back(io_, ConnectionType::kUnixSocket).acceptor, path,
                static_cast<mode_t>(config_.unixsocketperm), static_cast<int>(config_.tcp_backlog));
  return note_opened(error, path);
}

Result<void, std::string> Listener::note_opened(const error_code& error, const std::string& shown) {
  if (error) return "cannot listen on " + shown + ": " + error.message();
  addresses_ += (addresses_.empty() ? "" : ", ") + shown;
  return {};
}

void Listener::close() {
  error_code ignored;
  for (ListeningSocket<Tcp>& listening : tcp_sockets_) {
    listening.acceptor.close(ignored);
    listening.retry.cancel();
  }
  for (ListeningSocket<Unix>& listening : unix_sockets_) {
    listening.acceptor.close(ignored);
    listening.retry.cancel();
    ::unlink(config_.unixsocket.c_str());
  }
}

template <typename Protocol>
void Listener::accept(ListeningSocket<Protocol>* listening) {
  listening->acceptor.async_accept(
      [this, listening](error_code error, typename Protocol::socket socket) {
        if (error == asio::error::operation_aborted || !listening->acceptor.is_open()) return;
        note_pause(listening, error);
        if (!error) {
          accepted(std::move(socket), listening->type);
          return accept(listening);
        }
        listening->retry.expires_after(kRetryAfter);
        listening->retry.async_wait([this, listening](error_code cancelled) {
          if (!cancelled && listening->acceptor.is_open()) accept(listening);
        });
      });
}

template <typename Protocol>
void Listener::note_pause(ListeningSocket<Protocol>* listening, const error_code& error) {
  if (listening->pauses == error.failed()) return;
  listening->pauses = error.failed();
  if (error) {
    log_warning("a connection could not be accepted: {}; trying again and again", error.message());
  } else {
    log_warning("connections are accepted again");
  }
}

void Listener::accepted(Tcp::socket socket, ConnectionType type) {
  error_code error;
  const Tcp::endpoint local = socket.local_endpoint(error);
  Tcp::endpoint remote;
  if (!error) remote = socket.remote_endpoint(error);
  if (error) return;  // the peer has gone already
  set_options(&socket, config_.tcp_keepalive);
  Peer peer = {.address = show(remote),
               .local_address = show(local),
               .type = type,
               .loopback = is_loopback(remote.address())};
  peer.descriptor = socket.release();
  on_accept_(std::make_unique<SocketStream>(peer.descriptor), peer);
}

void Listener::accepted(Unix::socket socket, ConnectionType type) {
  const std::string shown = config_.unixsocket + ":0";
  Peer peer = {.address = shown, .local_address = shown, .type = type};
  peer.descriptor = socket.release();
  on_accept_(std::make_unique<SocketStream>(peer.descriptor), peer);
}

}  // namespace weir::server
