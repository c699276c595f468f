#include "server/net/poller.h"

#include <algorithm>
#include <cerrno>

namespace weir::server {
namespace {

int make_poll_set() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) {
    throw boost::system::system_error(errno, boost::system::system_category(), "epoll_create1");
  }
  return descriptor;
}

}  // namespace

Poller::Poller(boost::asio::io_context* io) : set_(*io, make_poll_set()) {}

bool Poller::watch(int descriptor, Interest before, Interest now, Connection* connection) {
  if (before == now) return true;
  if (before.at_once != now.at_once) {
    if (now.at_once) {
      at_once_.push_back(connection);
    } else {
      std::erase(at_once_, connection);
    }
  }
  return watch_descriptor(descriptor, before, now, connection);
}

bool Poller::watch_descriptor(int descriptor, Interest before, Interest now,
                              Connection* connection) {
  if (before.read == now.read && before.write == now.write) return true;
  epoll_event event{};
  event.events = (now.read ? EPOLLIN : 0u) | (now.write ? EPOLLOUT : 0u);
  event.data.ptr = connection;
  const int action = !now.on_descriptor()     ? EPOLL_CTL_DEL
                     : before.on_descriptor() ? EPOLL_CTL_MOD
                                              : EPOLL_CTL_ADD;
  return ::epoll_ctl(set_.native_handle(), action, descriptor, &event) == 0;
}

std::span<const Poller::Ready> Poller::poll(ReadyList* list) {
  const int count =
      ::epoll_wait(set_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  const auto size = static_cast<size_t>(std::max(count, 0));
  for (size_t i = 0; i < size; ++i) {
    const uint32_t events = events_[i].events;
    const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    (*list)[i] = {.connection = static_cast<Connection*>(events_[i].data.ptr),
                  .can = {.read = broken || (events & EPOLLIN) != 0,
                          .write = broken || (events & EPOLLOUT) != 0}};
  }
  return {list->data(), at_once_.empty() ? size : add_at_once(list, size)};
}

// Answers how many are in the list then. Those that find no room in it keep their place here.
size_t Poller::add_at_once(ReadyList* list, size_t size) const {
  for (Connection* connection : at_once_) {
    const auto end = list->begin() + size;
    const auto named = std::find_if(list->begin(), end, [connection](const Ready& ready) {
      return ready.connection == connection;
    });
    if (named != end) {
      named->can.read = true;
    } else if (size < list->size()) {
      (*list)[size++] = {.connection = connection, .can = {.read = true}};
    }
  }
  return size;
}

void Poller::wake_loop() {
  if (waking_) return;
  waking_ = true;
  set_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                  [this](boost::system::error_code) { waking_ = false; });
}

}  // namespace weir::server
