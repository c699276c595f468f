#include "storage/shared_logs/postgres/socket_watch.h"

#include <fcntl.h>

namespace weir::storage::postgres {

void SocketWatch::set_watcher(SocketWatcher* watcher) {
  forget();
  watcher_ = watcher;
}

void SocketWatch::update(int descriptor, uint64_t serial, bool wants_write) {
  if (!watcher_) return;
  if (watched_.ok() && (descriptor < 0 || serial != serial_)) forget();
  if (descriptor < 0) return;
  const bool is_new = !watched_.ok();
  if (is_new) watched_ = Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!watched_.ok() || (!is_new && wants_write == wants_write_)) return;
  serial_ = serial;
  wants_write_ = wants_write;
  watcher_->watch(watched_.get(), wants_write);
}

void SocketWatch::forget() {
  if (!watched_.ok()) return;
  watcher_->unwatch();
  Descriptor closed;
  std::swap(closed, watched_);
}

}  // namespace weir::storage::postgres
