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

  // Until the log is gone.
  void watch(WatchedLog* log) { log->set_watcher(&watchers_.emplace_back(log)); }

  // Waits until something is ready, for two milliseconds at most, and tells the logs.
  void pass(Proxy* proxy) {
    std::vector<pollfd> watched;
    std::vector<Watcher*> in_order;
    for (Watcher& watcher : watchers_) {
      if (watcher.descriptor < 0) continue;
      const int events = watcher.wants_write ? POLLIN | POLLOUT : POLLIN;
      watched.push_back(
          {.fd = watcher.descriptor, .events = static_cast<short>(events), .revents = 0});
      in_order.push_back(&watcher);
    }
    if (proxy) proxy->add_to(&watched);
    ::poll(watched.data(), watched.size(), kPassMs);
    if (proxy) proxy->step(boot_ns());
    for (size_t i = 0; i < in_order.size(); ++i)
      if (watched[i].revents != 0 && in_order[i]->descriptor >= 0)
        in_order[i]->log->on_ready(boot_ns());
  }

 private:
  static constexpr int kPassMs = 2;

  struct Watcher : SocketWatcher {
    explicit Watcher(WatchedLog* of) : log(of) {}
    void watch(int to_watch, bool writes) override {
      descriptor = to_watch;
      wants_write = writes;
    }
    void unwatch() override { descriptor = -1; }

    WatchedLog* const log;
    int descriptor = -1;
    bool wants_write = false;
  };

  std::list<Watcher> watchers_;
};

}  // namespace weir::storage::postgres
