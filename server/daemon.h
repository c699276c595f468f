// The event loop: sockets, signals and the timer around a Server.
//
// One iteration is one turn: wait, read every readable socket once, end the turn, send. Only this
// file and the two it is made of (listener, poller) know Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <span>
#include <string>
#include <vector>

#include "server/connection.h"
#include "server/listener.h"
#include "server/server.h"

namespace weir::server {

class Daemon : private ConnectionOwner {
 public:
  // `io` is the loop that the store's notifications were posted to.
  Daemon(Server* server, boost::asio::io_context* io);

  // Answers what went wrong, or an empty string.
  std::string listen();
  // Returns when asked to stop, all turns committed and synced. The value is the process' exit
  // code.
  int run();

 private:
  void on_closed(std::unique_ptr<Connection> connection) override;
  void serve_while_busy();
  void forget_closed();
  void on_accept(Listener::Socket socket, Peer peer);
  void wait();
  void turn();
  void flush_touched();
  void abandon_connections();
  void wait_for_tick();
  void wait_for_signal();
  void wait_for_waiters();
  int drain();

  Server& server_;
  boost::asio::io_context& io_;
  Listener listener_;
  Poller poller_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer waker_;  // for sessions that wait for an instant
  boost::asio::steady_timer::time_point waker_at_ = boost::asio::steady_timer::time_point::max();
  Poller::ReadyList ready_list_;
  std::span<const Poller::Ready> ready_;
  std::vector<char> read_buffer_;
  // While a script runs long: the turn's buffer and list are in use.
  Poller::ReadyList busy_list_;
  std::vector<char> busy_buffer_;
  std::vector<std::unique_ptr<Connection>> closed_while_busy_;
  bool stopping_ = false;
  bool tick_due_ = false;
  bool more_to_run_ = false;
};

}  // namespace weir::server
