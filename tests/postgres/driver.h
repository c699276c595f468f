// Lets real time pass for logs on PostgreSQL as a server's loop would: it watches their sockets.
#pragma once

#include <poll.h>
#include <time.h>

#include <cstdint>
#include <list>
#include <vector>

#include "base/time_units.h"
#include "storage/replication/socket_watcher.h"
#include "tests/postgres/proxy.h"

namespace weir::storage::postgres {

class Driver {
 public:
  static int64_t boot_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * kNsPerS + now.tv_nsec;
  }

  // For one log.
  SocketWatcher* new_watcher() { return &watchers_.emplace_back(); }

  // Waits until something is ready, for two milliseconds at most.
  void pass(Proxy* proxy) {
    std::vector<pollfd> watched;
    for (const Watcher& watcher : watchers_) {
      const int events = watcher.wants_write ? POLLIN | POLLOUT : POLLIN;
      if (watcher.descriptor >= 0)
        watched.push_back(
            {.fd = watcher.descriptor, .events = static_cast<short>(events), .revents = 0});
    }
    if (proxy) proxy->add_to(&watched);
    ::poll(watched.data(), watched.size(), kPassMs);
    if (proxy) proxy->step(boot_ns());
  }

 private:
  static constexpr int kPassMs = 2;

  struct Watcher : SocketWatcher {
    void watch(int to_watch, bool writes) override {
      descriptor = to_watch;
      wants_write = writes;
    }
    void unwatch() override { descriptor = -1; }

    int descriptor = -1;
    bool wants_write = false;
  };

  std::list<Watcher> watchers_;
};

}  // namespace weir::storage::postgres
