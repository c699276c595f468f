#include "server/os/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <cstring>

#include "server/os/log.h"

namespace weir::server {

bool ServiceManager::listens() const { return wanted_ && std::getenv("NOTIFY_SOCKET") != nullptr; }

void ServiceManager::tell(const std::string& state) const {
  if (!listens()) return;
  const int told = sd_notify(0, state.c_str());
  if (told < 0) spdlog::warn("the service manager could not be told: {}", std::strerror(-told));
}

}  // namespace weir::server
