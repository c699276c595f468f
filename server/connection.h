// One accepted socket and its session: reads when told, sends what the session releases.
//
// Invariants
// 1. Nothing here blocks; every read is one system call into a buffer shared by all connections.
// 2. While the peer does not take its replies, or requests are kept for later, no more is read from
// it.
// 3. It ends in its own read(), flush() or abandon(), never in another connection's.
#pragma once

#include <memory>
#include <span>

#include "server/poller.h"
#include "server/session.h"

namespace weir::server {

// Told when a connection is over.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // It does nothing any more, but its descriptor stays open until it is destroyed.
  virtual void on_closed(std::unique_ptr<Connection> connection) = 0;
};

class Connection {
 public:
  // From here on it lives until it is closed, and owns `descriptor`, a stream socket.
  static void open(int descriptor, Session* session, ConnectionOwner* owner, Poller* poller);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Reads once and runs what has come in whole. It may be gone afterwards.
  void read(std::span<char> buffer, size_t commands_max);
  // Sends what is released; closes where the session has come to its end; reads on where there is
  // room. It may be gone afterwards.
  void flush();
  // Ends it now, whatever is unsent.
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
