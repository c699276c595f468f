#include "server/http/door.h"

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <utility>

#include "server/http/answers.h"
#include "server/os/log.h"

namespace weir::server::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Door* door, asio::ip::tcp::socket socket) : door_(door), stream_(std::move(socket)) {}

  bool is_silent() const { return silent_; }
  bool is_answered() const { return answered_; }  // or waits for its answer

  // Waits for the next request; a first byte makes it one that has begun.
  void wait() {
    silent_ = true;
    answered_ = false;
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(0);
    if (buffer_.size() > 0) return read();
    stream_.expires_after(is_new_ ? kRequestTime : kSilenceTime);
    stream_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              if (error) return self->end();
                              self->buffer_.commit(bytes);
                              self->read();
                            });
  }

  void answer(Server& server) {
    const auto& request = parser_->get();
    const Question question{.method = request.method_string(),
                            .target = request.target(),
                            .accept = request[wire::field::accept],
                            .authorization = request[wire::field::authorization]};
    keep_alive_ = request.keep_alive();
    send(http::answer(server, question), request.version(), question.method == "HEAD");
  }

  void end() {
    error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    stream_.close();
    if (door_ != nullptr) std::exchange(door_, nullptr)->forget(this);
  }
  // The door is gone, or has forgotten the connection already.
  void leave() { door_ = nullptr; }

 private:
  static constexpr size_t kReadBytes = 4 << 10;
  static constexpr unsigned kVersion11 = 11;

  void read() {
    silent_ = is_new_ = false;
    stream_.expires_after(kRequestTime);
    wire::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t) { self->on_read(error); });
  }

  void on_read(error_code error) {
    if (door_ == nullptr) return;
    answered_ = true;
    if (!error) return door_->asking_.push_back(shared_from_this());
    if (error.category() != wire::make_error_code(wire::error::bad_method).category() ||
        error == wire::error::end_of_stream) {
      return end();
    }
    const bool large = error == wire::error::header_limit || error == wire::error::body_limit ||
                       error == wire::error::buffer_overflow;
    keep_alive_ = false;
    send({.status = large ? 413u : 400u,
          .body = "the request was refused: " + error.message() + "\n"},
         kVersion11, false);
  }

  void send(Answer answer, unsigned version, bool only_head) {
    response_.emplace(static_cast<wire::status>(answer.status), version);
    response_->set(wire::field::content_type, answer.content_type);
    response_->set(wire::field::cache_control, "no-store");
    response_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : answer.fields) response_->set(name, value);
    response_->keep_alive(keep_alive_);
    response_->content_length(answer.body.size());
    if (!only_head) response_->body() = std::move(answer.body);
    stream_.expires_after(kRequestTime);
    wire::async_write(stream_, *response_, [self = shared_from_this()](error_code error, size_t) {
      self->on_sent(error);
    });
  }

  void on_sent(error_code error) {
    if (door_ == nullptr || error || !keep_alive_) return end();
    response_.reset();
    wait();
  }

  Door* door_;  // null: the connection has ended
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kHeaderBytesMax + kReadBytes};
  std::optional<wire::request_parser<wire::empty_body>> parser_;
  std::optional<wire::response<wire::string_body>> response_;
  bool is_new_ = true;
  bool silent_ = true;
  bool answered_ = false;
  bool keep_alive_ = false;
};

Door::~Door() { close(); }

Result<void, std::string> Door::open(const Config& config) {
  if (config.metrics_port == 0) return {};
  for (const std::string& given : config.metrics_bind) {
    const bool optional = given.starts_with("-");
    const std::string address = optional ? given.substr(1) : given;
    const std::string shown = address + ":" + std::to_string(config.metrics_port);
    error_code error;
    const auto host = address == "*" ? "0.0.0.0" : address == "::*" ? "::" : address;
    const auto found = Tcp::resolver(io_).resolve(host, std::to_string(config.metrics_port),
                                                  asio::ip::resolver_base::passive, error);
    Tcp::acceptor acceptor(io_);
    const Tcp::endpoint endpoint = found.empty() ? Tcp::endpoint() : found.begin()->endpoint();
    if (!error) acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error && optional) continue;
    if (error) return "cannot listen for metrics on " + shown + ": " + error.message();
    acceptors_.push_back(std::move(acceptor));
    addresses_ += (addresses_.empty() ? "" : ", ") + shown;
  }
  if (acceptors_.empty()) return "metrics-port is set, but no address of metrics-bind is usable";
  for (Tcp::acceptor& acceptor : acceptors_) accept(&acceptor);
  spdlog::info("metrics, /healthz and /readyz are served on http://{}", addresses_);
  return {};
}

void Door::close() {
  error_code ignored;
  for (Tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
  asking_.clear();
  let_in_.clear();
  for (const auto& connection : std::exchange(connections_, {})) {
    connection->leave();
    connection->end();
  }
}

// A connection that the system gives no descriptor for stays in the backlog, and is tried again.
void Door::accept(Tcp::acceptor* acceptor) {
  acceptor->async_accept([this, acceptor](error_code error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor->is_open()) return;
    if (!error && make_room()) {
      connections_.push_back(std::make_shared<Connection>(this, std::move(socket)));
      connections_.back()->wait();
    }
    if (!error) return let_in_.push_back(acceptor);
    auto retry = std::make_shared<asio::steady_timer>(io_, std::chrono::milliseconds(100));
    retry->async_wait([this, acceptor, retry](error_code) {
      if (acceptor->is_open()) accept(acceptor);
    });
  });
}

bool Door::make_room() {
  if (connections_.size() < kConnectionsMax) return true;
  auto least = std::find_if(connections_.begin(), connections_.end(),
                            [](const auto& connection) { return connection->is_silent(); });
  if (least == connections_.end()) {
    least = std::find_if(connections_.begin(), connections_.end(),
                         [](const auto& connection) { return !connection->is_answered(); });
  }
  if (least == connections_.end()) return false;
  const std::shared_ptr<Connection> closing = *least;
  closing->end();
  return true;
}

void Door::forget(const Connection* connection) {
  connections_.remove_if([connection](const auto& other) { return other.get() == connection; });
  std::erase_if(asking_, [connection](const auto& other) { return other.get() == connection; });
}

void Door::serve(Server& server) {
  answer_next(server);
  for (Tcp::acceptor* acceptor : std::exchange(let_in_, {})) accept(acceptor);
}

// The connection that is answered now was silent last.
void Door::answer_next(Server& server) {
  if (asking_.empty()) return;
  const std::shared_ptr<Connection> asking = std::move(asking_.front());
  asking_.pop_front();
  const auto place = std::find(connections_.begin(), connections_.end(), asking);
  connections_.splice(connections_.end(), connections_, place);
  asking->answer(server);
}

}  // namespace weir::server::http
