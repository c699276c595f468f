// Tells the owner of the loop which descriptor is to be watched.
//
// libpq closes its sockets when it likes, and an owner must not watch a descriptor that is closed,
// or that has become another. So the owner gets a duplicate, which is this class's own.
#pragma once

#include <cstdint>

#include "storage/format/file.h"
#include "storage/replication/socket_watcher.h"

namespace weir::storage::postgres {

class SocketWatch {
 public:
  SocketWatch() = default;
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;
  ~SocketWatch() { forget(); }

  void set_watcher(SocketWatcher* watcher);
  bool has_watcher() const { return watcher_ != nullptr; }
  // What is to be watched from now on; -1: nothing. Another serial is another socket.
  void update(int descriptor, uint64_t serial, bool wants_write);

 private:
  void forget();

  SocketWatcher* watcher_ = nullptr;
  Descriptor watched_;
  uint64_t serial_ = 0;
  bool wants_write_ = false;
};

}  // namespace weir::storage::postgres
