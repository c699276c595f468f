// The port of metrics-port: connections of Boost.Beast on the loop, whose requests wait for the
// turn.
//
// A handler of the loop only reads requests; serve(), which the turn calls, answers one, and lets
// the next connection in. So however much comes in over HTTP, a turn is longer by one answer at
// most.
//
// Invariants
// 1. There are at most kConnectionsMax connections. One more closes the one that has been silent
//    longest, or else the one that has not sent a whole request for longest. It is closed itself
//    only if all others wait for answers or are being answered.
// 2. A request has at most kHeaderBytesMax bytes of header and no body, and comes whole within
//    kRequestTime, or its connection is closed. A connection is silent for at most kSilenceTime.
// 3. A connection has one request at a time: the next is read after the answer was sent.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"
#include "server/http/request_reader.h"

namespace weir::server {

class Server;

namespace http {

// They have to fit into what core/descriptors.h keeps for the process itself.
inline constexpr size_t kConnectionsMax = 16;
inline constexpr std::chrono::seconds kRequestTime{10};
inline constexpr std::chrono::seconds kSilenceTime{120};

class Connection;

class Door {
 public:
  explicit Door(boost::asio::io_context* io) : io_(*io) {}
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // Listens where the configuration says; nowhere if metrics-port is 0.
  Result<void, std::string> open(const Config& config);
  void close();
  // For example "127.0.0.1:9121"; empty where nothing is listened on.
  const std::string& addresses() const { return addresses_; }

  bool has_work() const { return !asking_.empty() || !let_in_.empty(); }
  // Answers the request that has waited longest, if there is one, and accepts connections again.
  void serve(Server& server);

 private:
  friend class Connection;
  using Tcp = boost::asio::ip::tcp;

  void accept(Tcp::acceptor* acceptor);
  void answer_next(Server& server);
  bool make_room();
  void forget(const Connection* connection);

  boost::asio::io_context& io_;
  std::list<Tcp::acceptor> acceptors_;
  std::list<std::shared_ptr<Connection>> connections_;  // those that were silent longest first
  std::deque<std::shared_ptr<Connection>> asking_;
  std::vector<Tcp::acceptor*> let_in_;  // those that have let somebody in since the last turn
  std::string addresses_;
};

}  // namespace http
}  // namespace weir::server
