#include "server/net/daemon.h"

#include <algorithm>
#include <csignal>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/http/conversation.h"
#include "server/http/grpc/conversation.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr size_t kBusyReadBytes = 16 << 10;
constexpr std::chrono::milliseconds kLeaveStep(5);
constexpr size_t kHandlersMax = 16;  // between two turns
// By so much what waits may be late. The instant of one deadline is computed anew in each turn, and
// comes out a little different; setting the timer each time cost two system calls and a wakeup.
constexpr std::chrono::microseconds kWakerSlack(200);

// What a turn sends to all connections, and of it to one.
constexpr size_t kTurnSendBytes = 8 << 20;
constexpr size_t kSendBytesLeast = 16 << 10;
constexpr size_t kSendBytesMost = 1 << 20;

size_t share_of(size_t connections) {
  if (connections <= kTurnSendBytes / kSendBytesMost) return kSendBytesMost;
  return std::max(kTurnSendBytes / connections, kSendBytesLeast);
}

}  // namespace

Daemon::Daemon(Server* server, boost::asio::io_context* io, otlp::Settings exports)
    : server_(*server),
      io_(*io),
      listener_(io, server->config(),
                [this](std::unique_ptr<ByteStream> stream, Peer peer) {
                  on_accept(std::move(stream), std::move(peer));
                }),
      http_clients_(server, http::of_requests(server)),
      metrics_clients_(server, http::of_metrics),
      grpc_clients_(server, http::of_calls(server)),
      exporter_(server, std::move(exports)),
      poller_(io),
      handshakes_(io, &server->clock(), &server->sessions().tls(),
                  [this](std::unique_ptr<ByteStream> stream, Peer peer) {
                    begin_session(std::move(stream), std::move(peer));
                  }),
      log_watch_(io, server->shard_role().membership()),
      signals_(*io, SIGTERM, SIGINT, SIGHUP),
      ticker_(*io),
      waker_(*io),
      service_manager_(server->config().supervised != Supervision::kNo) {
  server_.scripting().busy.set_poll([this] { serve_while_busy(); });
}

Result<void, std::string> Daemon::listen() {
  if (auto opened = listener_.open(); !opened) return opened;
  const std::string where = "ready to accept connections on " + listener_.addresses();
  log_info("{}", where);
  service_manager_.ready(where);
  return {};
}

int Daemon::run() {
  wait_for_signal();
  wait_for_tick();
  while (!stopping_) {
    wait();
    if (tick_due_) {
      tick_due_ = false;
      server_.tick();
      http_clients_.end_overdue();
      metrics_clients_.end_overdue();
      grpc_clients_.end_overdue();
      service_manager_.alive();
      exporter_.tick();
    }
    if (std::exchange(reload_due_, false)) (void)server_.reload().run();
    turn();
    if (run_handlers()) more_to_run_ = true;  // a turn does what its handlers want
    if (server_.shutdown.requested) is_to_end_ = true;
    if (is_to_end_ && !last_service_.goes_on(server_.shard_role().membership())) stopping_ = true;
  }
  return drain();
}

// A handler that accepts makes room for the next one, and as long as somebody connects as fast as
// that there would be no end. Answers whether any has run.
bool Daemon::run_handlers() {
  size_t ran = 0;
  while (ran < kHandlersMax && io_.poll_one() > 0) ++ran;
  return ran > 0;
}

// Sleeps only if there is nothing to do.
void Daemon::wait() {
  ready_ = poller_.poll(&ready_list_);
  if (!ready_.empty() || !batch_.is_empty()) return;
  if (more_to_run_ || tick_due_ || reload_due_) return;
  if (server_.keys().work().wanted()) return;
  poller_.wake_loop();
  if (!handshakes_.empty()) handshakes_.wake_loop();
  io_.run_one();
  ready_ = poller_.poll(&ready_list_);
}

void Daemon::turn() {
  const Config& config = server_.config();
  const auto commands_max = static_cast<size_t>(config.turn_commands_max);
  batch_.set_read_bytes_max(static_cast<size_t>(config.turn_read_bytes_max));
  send_bytes_max_ = share_of(ready_.size());
  server_.shard_role().listen();
  TurnBudget budget(&server_.clock(), &server_.timeline(), &server_.work());
  const bool served = serve_ready(commands_max, &budget);
  serve_long(commands_max, served, &budget);
  server_.serve_waiting();
  server_.end_turn();
  flush_touched();
  forget_closed();
  server_.report().end_phase("send", server_.clock().steady_ns());
  if (!handshakes_.empty()) {
    handshakes_.step();
    server_.report().end_phase("handshakes", server_.clock().steady_ns());
  }
  more_to_run_ = server_.sessions().holds().has_runnable();
  wait_for_waiters();
}

// A connection that is not served now is in the batch still, or is ready the next time too, in the
// same order; so the next turn begins with the first of them. Answers whether it has served one.
bool Daemon::serve_ready(size_t commands_max, TurnBudget* budget) {
  ready_ = batch_.without_rest(std::span(ready_list_).first(ready_.size()));
  const auto next = std::find_if(ready_.begin(), ready_.end(), [this](const Poller::Ready& ready) {
    return ready.connection == served_next_;
  });
  const size_t first = next == ready_.end() ? 0 : static_cast<size_t>(next - ready_.begin());
  served_next_ = nullptr;
  bool served = false;
  bool goes_on = serve_batch(commands_max, budget, &served);
  for (size_t i = 0; i < ready_.size(); ++i) {
    const Poller::Ready& ready = ready_[(first + i) % ready_.size()];
    Session* session = ready.connection->session();
    const bool has_requests_left = session->runnable();  // serve_long() resumes it; this only sends
    if (ready.can.read && !has_requests_left && session->activity().was_long()) {
      long_.push_back({.session = session, .connection = ready.connection, .can = ready.can});
      continue;
    }
    const bool is_read_ahead = ready.connection->can_read_ahead(ready.can);
    if (goes_on && !is_read_ahead) goes_on = serve_batch(commands_max, budget, &served);
    if (goes_on && batch_.is_empty()) goes_on = !served || !budget->is_spent();
    if (!goes_on) {
      if (served_next_ == nullptr) served_next_ = ready.connection;
    } else if (is_read_ahead) {
      batch_.add(ready.connection, ready.can);
      if (batch_.is_full()) goes_on = serve_batch(commands_max, budget, &served);
    } else {
      ready.connection->on_ready(ready.can, batch_.room(), commands_max);
      served = true;
    }
  }
  if (goes_on) serve_batch(commands_max, budget, &served);
  ready_ = {};
  return served;
}

// Answers whether the turn has served all of the batch.
bool Daemon::serve_batch(size_t commands_max, TurnBudget* budget, bool* served) {
  batch_.expect(&server_.sessions().host());
  while (!batch_.is_empty()) {
    if (*served && budget->is_spent()) return false;
    const Poller::Ready next = batch_.take();
    if (!next.connection->has_read_ahead()) continue;  // it was served while a script ran long
    next.connection->on_ready(next.can, {}, commands_max);
    *served = true;
  }
  return true;
}

// Sessions that were long before, and those with requests left, come after the others. A turn
// serves one of them whatever the others have used, and more as long as its budget lasts; the one
// that had a part in a turn longest ago comes first. The replies of those served before leave with
// this turn's end. So after a long command comes a turn for those who have waited for its end, and
// none of them waits for a second one.
void Daemon::serve_long(size_t commands_max, bool others_served, TurnBudget* budget) {
  if (std::exchange(was_long_, false) && others_served) return long_.clear();
  for (Session* session : server_.sessions().holds().take_runnable())
    long_.push_back({.session = session});
  if (long_.empty()) return;
  std::stable_sort(long_.begin(), long_.end(), [](const Long& a, const Long& b) {
    return a.session->activity().touched_in_turn() < b.session->activity().touched_in_turn();
  });
  const int64_t begin_ns = server_.clock().steady_ns();
  bool is_spent = false;
  for (const Long& next : long_) {
    if (is_spent) {
      if (next.connection == nullptr) server_.sessions().holds().run_later(*next.session);
      continue;
    }
    next.session->activity().forget_long();
    if (next.connection == nullptr) {
      next.session->resume(commands_max);
    } else {
      next.connection->on_ready(next.can, batch_.room(), commands_max);
    }
    const int64_t taken_ns = server_.clock().steady_ns() - begin_ns;
    was_long_ = taken_ns > TurnBudget::kTurnNs;
    is_spent = was_long_ || budget->is_spent();
  }
  long_.clear();
}

void Daemon::flush_touched() {
  // A connection that closes takes its session out of the server's list, so this goes over a copy.
  flushing_ = server_.turn().touched();
  send_bytes_max_ = stopping_ ? SIZE_MAX : share_of(flushing_.size());
  for (Session* session : flushing_) {
    if (session->transport() != nullptr) session->transport()->flush();
  }
}

void Daemon::abandon_connections() {
  std::vector<Transport*> transports;
  for (const auto& [id, session] : server_.sessions().all()) {
    if (session->transport() != nullptr) transports.push_back(session->transport());
  }
  for (Transport* transport : transports) transport->abandon();
}

// A connection may end while a script runs long, and the turn may still come to its session.
void Daemon::on_closed(std::unique_ptr<Connection> connection) {
  Session* session = connection->session();
  batch_.forget(connection.get());
  if (server_.scripting().busy.current() == nullptr) return server_.disconnect(session);
  session->kill();
  session->set_transport(nullptr);
  closed_while_busy_.push_back(std::move(connection));
}

void Daemon::forget_closed() {
  for (const auto& connection : closed_while_busy_) server_.disconnect(connection->session());
  closed_while_busy_.clear();
}

// A session that has a part in the turn, the script's own session too, waits for the turn's end.
void Daemon::serve_while_busy() {
  run_handlers();
  service_manager_.alive();
  handshakes_.step();  // who ends a script may come over TLS
  busy_buffer_.resize(kBusyReadBytes);
  const auto commands_max = static_cast<size_t>(server_.config().turn_commands_max);
  // None can be evicted before the script ends. So once all have too much, who has sent much is
  // not read from.
  const bool is_too_much = server_.sessions().bounds().exceeded();
  const auto serve = [&](const Poller::Ready& ready) {
    Session* session = ready.connection->session();
    if (session->replies().queue().in_turn()) return;
    if (is_too_much && session->input().size() > kBusyReadBytes) return;
    ready.connection->on_ready(ready.can, busy_buffer_, commands_max);
  };
  // What is read already nobody else will tell of.
  const auto rest = batch_.rest();
  for (const Poller::Ready& ready : std::vector(rest.begin(), rest.end())) {
    if (ready.connection->has_read_ahead()) serve(ready);
  }
  for (const Poller::Ready& ready : poller_.poll(&busy_list_)) serve(ready);
  for (Session* session : server_.turn().end_busy_round()) {
    if (session->transport() != nullptr) session->transport()->flush();
  }
  if (is_to_end_) server_.scripting().busy.kill();
}

void Daemon::on_accept(std::unique_ptr<ByteStream> stream, Peer peer) {
  if (!uses_tls(peer.type)) return begin_session(std::move(stream), std::move(peer));
  const bool is_asked = !is_for_metrics(peer.type) || server_.config().metrics_tls_auth_clients;
  const auto clients = static_cast<int64_t>(server_.sessions().count() + handshakes_.count());
  if (clients < server_.config().maxclients)
    return handshakes_.begin(std::move(stream), std::move(peer), is_asked);
  ++server_.report().stats.connections_rejected;  // a line of text would be no TLS
}

void Daemon::begin_session(std::unique_ptr<ByteStream> stream, Peer peer) {
  if (speaks_grpc(peer.type)) return begin_grpc(std::move(stream), std::move(peer));
  if (speaks_http(peer.type)) return begin_http(std::move(stream), std::move(peer));
  const auto session = server_.connect(std::move(peer));
  if (!session) {
    (void)stream->send(session.error());  // as much as fits at once
    return;
  }
  Connection::open(std::move(stream), *session, this, &poller_);
}

void Daemon::begin_http(std::unique_ptr<ByteStream> stream, Peer peer) {
  const bool is_metrics = is_for_metrics(peer.type);
  const http::ListenerKind listener =
      is_metrics ? http::ListenerKind::kMetrics : http::ListenerKind::kRequests;
  http::Clients& clients = is_metrics ? metrics_clients_ : http_clients_;
  const auto session = connect_http(std::move(peer), &clients);
  if (session) {
    return Connection::open(
        std::move(stream), *session, this, &poller_,
        std::make_unique<http::Conversation>(&server_, *session, &clients, listener));
  }
  std::string answer;
  const std::string_view why = trimmed(session.error(), "-\r\n");
  http::write(http::error_answer(why), false, false, &answer);
  (void)stream->send(answer);
}

Result<Session*, std::string> Daemon::connect_http(Peer peer, http::Clients* clients) {
  auto session = server_.connect(std::move(peer));
  if (!session || clients->make_room()) return session;
  ++server_.report().stats.connections_rejected;
  server_.disconnect(*session);
  return std::string("-ERR max number of clients reached\r\n");
}

// Who is not let in sees its connection end: that is what a client of gRPC knows how to take.
void Daemon::begin_grpc(std::unique_ptr<ByteStream> stream, Peer peer) {
  const auto session = connect_http(std::move(peer), &grpc_clients_);
  if (!session) return;
  Connection::open(std::move(stream), *session, this, &poller_,
                   std::make_unique<grpc::Conversation>(&server_, *session, &grpc_clients_));
}

void Daemon::wait_for_tick() {
  ticker_.expires_after(std::chrono::milliseconds(kMsPerS / server_.config().hz));
  ticker_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    tick_due_ = true;
    wait_for_tick();
  });
}

// Sets the timer, so that the loop wakes when the next session's wait ends; the turn does the rest.
void Daemon::wait_for_waiters() {
  const int64_t wait_ns = server_.next_wait_ns();
  if (wait_ns == kNotDue) return;
  const auto at = std::chrono::steady_clock::now() + std::chrono::nanoseconds(wait_ns);
  if (at + kWakerSlack >= waker_at_) return;
  waker_at_ = at;
  waker_.expires_at(at);
  waker_.async_wait([this](boost::system::error_code error) {
    if (!error) waker_at_ = boost::asio::steady_timer::time_point::max();
  });
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    if (signal == SIGHUP) {
      reload_due_ = true;  // between turns: a script may be running now
    } else {
      log_info("stopping on {}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
      stopping_ = std::exchange(is_to_end_, true);  // told twice, it waits for nobody
    }
    wait_for_signal();
  });
}

// What was asked is committed and answered, and another member becomes the primary. A turn needs
// the log, so the loop goes on for that.
void Daemon::leave_shard() {
  Membership* const member = server_.shard_role().membership();
  if (member == nullptr) return;
  member->begin_to_leave();
  while (true) {
    member->listen();
    server_.end_turn();
    flush_touched();
    forget_closed();
    if (member->has_left()) return;
    io_.run_one_for(kLeaveStep);
  }
}

// Takes no new connections and no new requests, then commits and answers those taken before.
int Daemon::drain() {
  service_manager_.stopping();
  listener_.close();
  handshakes_.clear();
  leave_shard();
  exporter_.collect_last();
  const storage::Status status = server_.close();
  server_.end_turn();
  flush_touched();
  abandon_connections();
  exporter_.finish();
  if (!status.ok()) {
    log_error("stopped, but the last changes may be lost: {}", status.message());
    return 1;
  }
  log_info("stopped, everything is on disk up to turn {}", server_.keys().turn());
  return 0;
}

}  // namespace weir::server
