// A shared log whose answers come over a socket, and the loop that watches this socket for it.
//
// Who only calls SharedLog::tick() needs none of it: a tick looks at the socket, too, unless a
// watcher is set: then the log may rely on on_ready(). An owner with an event loop watches the
// socket to hear of an answer at once.
#pragma once

#include <cstdint>

namespace weir::storage {

// What the owner of the loop does. The log calls it from inside its own functions; it must not call
// the log back from there.
class SocketWatcher {
 public:
  virtual ~SocketWatcher() = default;

  // From now on the owner calls on_ready() each time the descriptor can be read, or can be written
  // if `wants_write`, or has failed; until the next watch() or unwatch(). What is watched already
  // is watched anew, perhaps with another `wants_write`. The descriptor is the log's, and stays
  // open until unwatch() has returned.
  virtual void watch(int descriptor, bool wants_write) = 0;
  // The descriptor is about to be closed.
  virtual void unwatch() = 0;
};

class WatchedLog {
 public:
  virtual ~WatchedLog() = default;

  // nullptr: nobody watches, and ticks have to come often (next_deadline() says when). The watcher
  // must outlive the log or be taken away before.
  virtual void set_watcher(SocketWatcher* watcher) = 0;
  // The socket is ready, or may be: a call too many does no harm. Answers come from inside.
  virtual void on_ready(int64_t boot_ns) = 0;
};

}  // namespace weir::storage
