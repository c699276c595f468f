// Opens the configured addresses and the unix socket, and hands over the connections that come.
//
// Invariants
// 1. Each listening socket pauses by itself when the system gives no descriptor for a connection:
//    trying again at once would spin, because the connection stays in the backlog. The log has
//    one line when the pauses begin, and one when they are over.
// 2. A unix socket has its mode before it listens, so that nobody comes in who may not.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"
#include "server/net/byte_stream.h"
#include "server/session/session.h"

namespace weir::server {

class Listener {
 public:
  // The stream is the bare one; what uses TLS by its Peer::type has its handshake before it.
  using OnAccept = std::function<void(std::unique_ptr<ByteStream> stream, Peer peer)>;

  Listener(boost::asio::io_context* io, const Config& config, OnAccept on_accept);

  Result<void, std::string> open();
  void close();
  // For example "127.0.0.1:6379, 127.0.0.1:6380 (TLS), 127.0.0.1:8000 (HTTP), 127.0.0.1:9121
  // (metrics), /run/weir.sock".
  const std::string& addresses() const { return addresses_; }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Unix = boost::asio::local::stream_protocol;

  // One address that is listened on. It stays in its place until the listener is destroyed, since
  // handlers point to it.
  template <typename Protocol>
  struct ListeningSocket {
    ListeningSocket(boost::asio::io_context& io, ConnectionType type_of)
        : acceptor(io), retry(io), type(type_of) {}

    typename Protocol::acceptor acceptor;
    boost::asio::steady_timer retry;
    const ConnectionType type;
    bool pauses = false;
  };

  Result<void, std::string> open_sockets(const std::vector<std::string>& addresses, int64_t port,
                                         ConnectionType type);
  Result<void, std::string> open_tcp(std::string address, int64_t port, ConnectionType type);
  Result<void, std::string> open_unix();
  bool serves_requests() const;
  Result<void, std::string> note_opened(const boost::system::error_code& error,
                                        const std::string& shown);
  template <typename Protocol>
  void accept(ListeningSocket<Protocol>* listening);
  template <typename Protocol>
  void note_pause(ListeningSocket<Protocol>* listening, const boost::system::error_code& error);
  void accepted(Tcp::socket socket, ConnectionType type);
  void accepted(Unix::socket socket, ConnectionType type);

  boost::asio::io_context& io_;
  const Config& config_;
  OnAccept on_accept_;
  std::list<ListeningSocket<Tcp>> tcp_sockets_;
  std::list<ListeningSocket<Unix>> unix_sockets_;  // at most one
  std::string addresses_;
};

}  // namespace weir::server
