// Which connections can be read from or written to, found by an epoll descriptor of their own.
//
// Asio's reactor watches for edges and arms every wait with a system call: with one command per
// wait that is a third one in addition to recv and send. A connection that is watched for levels is
// armed once. Asio waits for the descriptor as a whole, so the loop still has one place where it
// sleeps. What is given up are Asio's other platforms.
//
// Invariants
// 1. A connection is unwatched before its descriptor is closed.
// 2. A connection that is watched for nothing is not in the set: epoll would report its end for
//    ever.
// 3. A poll names a connection once, because the connection may end when it is called.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <span>
#include <vector>

#include "server/net/watcher.h"

namespace weir::server {

class Poller : public Watcher {
 public:
  // Throws boost::system::system_error if no descriptor is left.
  explicit Poller(boost::asio::io_context* io);

  bool watch(int descriptor, Interest before, Interest now, Connection* connection) override;

  struct Ready {
    Connection* connection;
    Interest can;  // both directions are set when the connection is broken
  };
  static constexpr size_t kReadyMax = 1024;
  using ReadyList = std::array<Ready, kReadyMax>;
  // Answers the connections that are ready now, in *list, without waiting.
  std::span<const Ready> poll(ReadyList* list);

  // Makes the loop's next wait end when a connection is ready.
  void wake_loop();

 private:
  bool watch_descriptor(int descriptor, Interest before, Interest now, Connection* connection);
  size_t add_at_once(ReadyList* list, size_t size) const;

  boost::asio::posix::stream_descriptor set_;
  std::array<epoll_event, kReadyMax> events_;
  std::vector<Connection*> at_once_;  // those that are ready whatever epoll says
  bool waking_ = false;
};

}  // namespace weir::server
