#include "server/net/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace weir::server {
namespace {

// With more than this unsent, no more is read from the peer.
constexpr size_t kUnsentMax = 1 << 20;

}  // namespace

void Connection::open(int descriptor, Session* session, ConnectionOwner* owner, Poller* poller) {
  std::unique_ptr<Connection> made(new Connection(descriptor, session, owner, poller));
  Connection* connection = made.get();
  connection->self_ = std::move(made);
  session->transport = connection;
  if (!connection->watch({.read = true})) connection->close();
}

Connection::~Connection() { ::close(descriptor_); }

bool Connection::watch(Interest interest) {
  return poller_->watch(descriptor_, std::exchange(interest_, interest), interest, this);
}

void Connection::read(std::span<char> buffer, size_t commands_max) {
  if (self_ == nullptr) return;  // the connection has ended
  const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size > 0) return session_->receive({buffer.data(), static_cast<size_t>(size)}, commands_max);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (size == 0) {
    session_->close_after_reply();
  } else {
    session_->kill();
  }
  flush();
}

bool Connection::send_released() {
  while (!session_->output().empty()) {
    const std::string_view output = session_->output();
    const ssize_t size =
        ::send(descriptor_, output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) {
      session_->mark_sent(static_cast<size_t>(size));
    } else if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return true;
    } else if (!(size < 0 && errno == EINTR)) {
      return false;
    }
  }
  return true;
}

void Connection::flush() {
  if (self_ == nullptr) return;
  if (session_->dead() || !send_released()) return close();
  if (session_->closing() && !session_->has_unsent()) return close();
  const bool takes_more =
      !session_->closing() && !session_->runnable() && session_->unsent_bytes() < kUnsentMax;
  if (!watch({.read = takes_more, .write = !session_->output().empty()})) close();
}

void Connection::close() {
  watch({});
  owner_->on_closed(std::move(self_));
}

}  // namespace weir::server
