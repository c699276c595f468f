// The event loop: sockets, signals and the timer around a Server.
//
// One iteration is one turn: wait, read every readable socket once, end the turn, send. Sockets are
// read some at a time, before those are served (read_batch.h). Only this file, those it is made of
// (listener, poller, handshakes, log_watch) and main.cc know Asio.
//
// A turn sends a bounded number of bytes, in equal shares for the connections that are ready.
// Otherwise one large reply, or many slow readers, would hold up everybody. What is given up: a
// very large reply takes several turns.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time_units.h"
#include "server/core/run/server.h"
#include "server/http/clients.h"
#include "server/net/connection.h"
#include "server/net/handshakes.h"
#include "server/net/last_service.h"
#include "server/net/listener.h"
#include "server/net/log_watch.h"
#include "server/net/poller.h"
#include "server/net/read_batch.h"
#include "server/os/service_manager.h"
#include "server/otlp/exporter.h"

namespace weir::server {

// What a turn has left for sessions: time and work units. The instants of the requests that ran
// tell the time. The clock is only asked if none has run since the last question: who sends but the
// beginnings of requests uses time, too.
class TurnBudget {
 public:
  static constexpr int64_t kTurnNs = 4 * kNsPerMs;

  TurnBudget(Clock* clock, const Timeline* timeline, const WorkMeter* work)
      : clock_(*clock), timeline_(*timeline), work_(*work), ran_ns_(timeline->looked_steady_ns()) {}

  // Somebody was served.
  bool is_spent() {
    if (work_.turn_is_over()) return true;
    int64_t now_ns = timeline_.looked_steady_ns();
    if (now_ns == std::exchange(ran_ns_, now_ns)) now_ns = clock_.steady_ns();
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    return now_ns - begin_ns_ > kTurnNs;
  }

 private:
  Clock& clock_;
  const Timeline& timeline_;
  const WorkMeter& work_;
  int64_t ran_ns_;
  int64_t begin_ns_ = 0;
};

class Daemon : private ConnectionOwner {
 public:
  // `io` is the loop to which the store's notifications are posted; `exports` says to whom metrics
  // and spans are sent.
  Daemon(Server* server, boost::asio::io_context* io, otlp::Settings exports = {});

  // Opens the listeners.
  Result<void, std::string> listen();
  // Runs until asked to stop; all turns are then committed and synced. Answers the process' exit
  // code.
  int run();

 private:
  size_t send_bytes_max() const override { return send_bytes_max_; }
  // Bytes are work, whether they end a request or not, so a turn reads so many and no more, however
  // many connections have some.
  void note_received(size_t bytes) override { server_.work().charge_bytes(bytes); }
  void on_closed(std::unique_ptr<Connection> connection) override;
  void serve_while_busy();
  void forget_closed();
  void on_accept(std::unique_ptr<ByteStream> stream, Peer peer);
  void begin_session(std::unique_ptr<ByteStream> stream, Peer peer);
  void begin_http(std::unique_ptr<ByteStream> stream, Peer peer);
  // Begins the session of a client of HTTP, if there is room for one more among them.
  Result<Session*, std::string> connect_http(Peer peer, http::Clients* clients);
  void begin_grpc(std::unique_ptr<ByteStream> stream, Peer peer);
  bool run_handlers();
  void wait();
  void turn();
  bool serve_ready(size_t commands_max, TurnBudget* budget);
  bool serve_batch(size_t commands_max, TurnBudget* budget, bool* served);
  void serve_long(size_t commands_max, bool others_served, TurnBudget* budget);
  void flush_touched();
  void abandon_connections();
  void wait_for_tick();
  void wait_for_signal();
  void wait_for_waiters();
  void leave_shard();
  int drain();

  Server& server_;
  boost::asio::io_context& io_;
  Listener listener_;
  http::Clients http_clients_;
  http::Clients metrics_clients_;
  http::Clients grpc_clients_;
  otlp::Exporter exporter_;
  Poller poller_;
  Handshakes handshakes_;
  LogWatch log_watch_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer waker_;  // wakes the loop for sessions that wait for an instant
  boost::asio::steady_timer::time_point waker_at_ = boost::asio::steady_timer::time_point::max();
  Poller::ReadyList ready_list_;
  std::span<const Poller::Ready> ready_;
  // The first connection that the last turn had no time for. It is compared, and never followed.
  const Connection* served_next_ = nullptr;
  // Whom serve_ready() leaves to serve_long(), and those who have requests left (no connection).
  struct Long {
    Session* session;
    Connection* connection = nullptr;
    Interest can = {};
  };
  std::vector<Long> long_;
  bool was_long_ = false;  // the last turn has used more than its time for one of them
  ReadBatch batch_;
  size_t send_bytes_max_ = 0;  // of one connection in this turn
  std::vector<Session*> flushing_;
  // A list for the time while a script runs long, when the turn's buffer and list are in use.
  Poller::ReadyList busy_list_;
  std::vector<char> busy_buffer_;
  std::vector<std::unique_ptr<Connection>> closed_while_busy_;
  ServiceManager service_manager_;
  LastService last_service_;
  bool is_to_end_ = false;
  bool stopping_ = false;  // nothing is served any more
  bool tick_due_ = false;
  bool reload_due_ = false;
  bool more_to_run_ = false;
};

}  // namespace weir::server
