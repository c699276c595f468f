// Opens the configured addresses and the unix socket, and hands over the connections that come.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "server/config/config.h"
#include "server/net/byte_stream.h"
#include "server/session/session.h"

namespace weir::server {

class Listener {
 public:
  using OnAccept = std::function<void(std::unique_ptr<ByteStream> stream, Peer peer)>;

  Listener(boost::asio::io_context* io, const Config& config, OnAccept on_accept);

  // Answers what went wrong, or an empty string.
  std::string open();
  void close();
  // For example "127.0.0.1:6379, [::1]:6379, /run/weir.sock".
  const std::string& addresses() const { return addresses_; }

 private:
  using Protocol = boost::asio::generic::stream_protocol;
  using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

  std::string open_tcp(std::string address);
  std::string open_unix();
  std::string listen(Acceptor* acceptor, const Protocol::endpoint& endpoint,
                     const std::string& shown);
  void accept(Acceptor* acceptor);
  void accepted(Protocol::socket socket);

  boost::asio::io_context& io_;
  const Config& config_;
  OnAccept on_accept_;
  std::list<Acceptor> acceptors_;
  boost::asio::steady_timer retry_;
  std::string addresses_;
};

}  // namespace weir::server
