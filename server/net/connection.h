// One accepted socket and its session: reads when told, sends what the session releases.
//
// Invariants
// 1. Nothing here blocks; every read is one system call into a buffer shared by all connections.
// 1. Nothing here blocks; every read is one system call into a buffer that all connections share.
// 2. While the peer does not take its replies, or requests are kept for later, no more is read from
//    it.
// 3. A connection ends in its own read(), flush() or abandon(), never in another connection's.
#pragma once

#include <memory>
#include <span>

#include "server/net/poller.h"
#include "server/session/session.h"

namespace weir::server {

// Is told when a connection is over.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // The connection does nothing any more, but its descriptor stays open until it is destroyed.
  virtual void on_closed(std::unique_ptr<Connection> connection) = 0;
};

class Connection {
 public:
  // Makes a connection, which lives until it is closed and owns `descriptor`, a stream socket.
  static void open(int descriptor, Session* session, ConnectionOwner* owner, Poller* poller);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Reads once and runs the requests that have come in whole. The connection may be gone
  // afterwards.
  void read(std::span<char> buffer, size_t commands_max);
  // Sends what is released. Closes if the session has come to its end; reads on if there is room.
  // The connection may be gone afterwards.
  void flush();
  // Ends the connection now, whatever is unsent.
  void abandon() { close(); }
  Session* session() const { return session_; }

 private:
  Connection(int descriptor, Session* session, ConnectionOwner* owner, Poller* poller)
      : descriptor_(descriptor), session_(session), owner_(owner), poller_(poller) {}

  bool watch(Interest interest);
  bool send_released();
  void close();

  std::unique_ptr<Connection> self_;
  int descriptor_;
  Session* session_;
  ConnectionOwner* owner_;
  Poller* poller_;
  Interest interest_;
};

}  // namespace weir::server
