#include "server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace weir::server {
namespace {

// A peer with more than this unsent is not read from.
constexpr size_t kUnsentMax = 1 << 20;

}  // namespace

void Connection::start() {
  self_ = shared_from_this();
  wait_readable();
}

void Connection::wait_readable() {
  if (waiting_readable_ || closed_) return;
  waiting_readable_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waiting_readable_ = false;
                       if (!error && !self->closed_) self->owner_->on_readable(self);
                     });
}

void Connection::read(std::span<char> buffer, size_t commands_max) {
  if (closed_) return;
  const ssize_t size = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size > 0) return session_->receive({buffer.data(), static_cast<size_t>(size)}, commands_max);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    return wait_readable();
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
        ::send(socket_.native_handle(), output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
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
  if (closed_) return;
  if (session_->dead() || !send_released()) return close();
  if (session_->closing() && !session_->has_unsent()) return close();
  if (!session_->output().empty()) wait_writable();
  if (!session_->closing() && !session_->runnable() && session_->unsent_bytes() < kUnsentMax)
    wait_readable();
}

void Connection::wait_writable() {
  if (waiting_writable_) return;
  waiting_writable_ = true;
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waiting_writable_ = false;
                       if (!error) self->flush();
                     });
}

void Connection::close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
  owner_->on_closed(std::exchange(self_, nullptr));
}

}  // namespace weir::server
