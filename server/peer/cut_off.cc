#include "server/peer/cut_off.h"

#include <sys/socket.h>

namespace weir::server {

bool CutOff::hold(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (!is_cut_) descriptor_ = descriptor;
  return !is_cut_;
}

void CutOff::let_go() {
  const std::lock_guard lock(mutex_);
  descriptor_ = -1;
}

void CutOff::cut() {
  const std::lock_guard lock(mutex_);
  is_cut_ = true;
  if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

void CutOff::mend() {
  const std::lock_guard lock(mutex_);
  is_cut_ = false;
}

}  // namespace weir::server
