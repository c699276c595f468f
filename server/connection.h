// One accepted socket and its session: reads when told, sends what the session releases.
//
// Invariants
// 1. Nothing here blocks; every read is one system call into a buffer shared by all connections.
// 2. While the peer does not take its replies, or requests are kept for later, no more is read from
// it.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <span>

#include "server/session.h"

namespace weir::server {

class Connection;

// Told when a socket turns readable, and when a connection is over.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void on_readable(const std::shared_ptr<Connection>& connection) = 0;
  virtual void on_closed(const std::shared_ptr<Connection>& connection) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  Connection(Socket socket, Session* session, ConnectionOwner* owner)
      : socket_(std::move(socket)), session_(session), owner_(owner) {}

  // From here on it lives until it is closed.
  void start();
  // Reads once and runs what has come in whole.
  void read(std::span<char> buffer, size_t commands_max);
  // Sends what is released; closes where the session has come to its end; reads on where there is
  // room.
  void flush();
  // Ends it now, whatever is unsent.
  void abandon() {
    if (!closed_) close();
  }
  Session* session() const { return session_; }

 private:
  void wait_readable();
  void wait_writable();
  bool send_released();
  void close();

  std::shared_ptr<Connection> self_;
  Socket socket_;
  Session* session_;
  ConnectionOwner* owner_;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool closed_ = false;
};

}  // namespace weir::server
