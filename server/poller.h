// Which connections can be read from or written to, by an epoll descriptor of their own.
//
// Asio's reactor looks for edges and arms every wait with a system call: with one command per wait
// that is a third one beside recv and send. Watched for levels, a connection is armed once. Asio
// waits for the descriptor as a whole, so the loop still has one place where it sleeps.
//
// Invariants
// 1. A connection is unwatched before its descriptor is closed.
// 2. One that is watched for nothing is not in the set: epoll would report its end for ever.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <span>

namespace weir::server {

class Connection;

struct Interest {
  bool read = false;
  bool write = false;

  bool any() const { return read || write; }
  bool operator==(const Interest&) const = default;
};

class Poller {
 public:
  // Throws boost::system::system_error where there is no descriptor left.
  explicit Poller(boost::asio::io_context* io);

  // False: the system refuses to watch one more.
  bool watch(int descriptor, Interest before, Interest now, Connection* connection);

  struct Ready {
    Connection* connection;
    Interest can;  // both when the connection is broken
  };
  static constexpr size_t kReadyMax = 1024;
  using ReadyList = std::array<Ready, kReadyMax>;
  // Whoever is ready now, without waiting, in *list.
  std::span<const Ready> poll(ReadyList* list);

  // The loop's next wait ends when anybody is ready.
  void wake_loop();

 private:
  boost::asio::posix::stream_descriptor set_;
  std::array<epoll_event, kReadyMax> events_;
  bool waking_ = false;
};

}  // namespace weir::server
