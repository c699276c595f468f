#include "server/net/log_watch.h"

namespace weir::server {

LogWatch::LogWatch(boost::asio::io_context* io, Membership* membership)
    : descriptor_(*io), membership_(membership) {
  if (membership_ != nullptr) membership_->set_watcher(this);
}

LogWatch::~LogWatch() {
  if (membership_ != nullptr) membership_->set_watcher(nullptr);
  unwatch();
}

void LogWatch::watch(int descriptor, bool wants_write) {
  unwatch();
  descriptor_.assign(descriptor);
  wait_for(Wait::wait_read);
  if (wants_write) wait_for(Wait::wait_write);
}

// The descriptor stays open: it is the log's.
void LogWatch::unwatch() {
  ++watch_;
  if (descriptor_.is_open()) descriptor_.release();
}

// What is ready may lead to another watch; then that waits, and this does not.
void LogWatch::wait_for(Wait event) {
  descriptor_.async_wait(event, [this, event, watch = watch_](boost::system::error_code error) {
    if (error || watch != watch_) return;
    membership_->on_socket_ready();
    if (watch == watch_) wait_for(event);
  });
}

}  // namespace weir::server
