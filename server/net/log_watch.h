// Watches the socket of a shard's log on the loop, so that an answer is heard at once.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>

#include "server/core/shard/membership.h"
#include "storage/replication/socket_watcher.h"

namespace weir::server {

class LogWatch final : public storage::SocketWatcher {
 public:
  // `membership` is null for a server of no shard, and is told of nothing after this object is
  // gone.
  LogWatch(boost::asio::io_context* io, Membership* membership);
  ~LogWatch() override;

  void watch(int descriptor, bool wants_write) override;
  void unwatch() override;

 private:
  using Wait = boost::asio::posix::stream_descriptor::wait_type;

  void wait_for(Wait event);

  boost::asio::posix::stream_descriptor descriptor_;
  Membership* const membership_;
  uint64_t watch_ = 0;  // counts calls, so that what was waited for before one is nobody's
};

}  // namespace weir::server
