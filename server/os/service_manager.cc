#include "server/os/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <cstring>

#include "base/time_units.h"
#include "server/os/log.h"

namespace weir::server {

ServiceManager::ServiceManager(bool wanted)
    : wanted_(wanted), watched_(sd_watchdog_enabled(0, nullptr) > 0) {}

void ServiceManager::alive() {
  if (!watched_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_alive_) return;
  next_alive_ = now + std::chrono::seconds(1);
  tell("WATCHDOG=1");
}

void ServiceManager::starting(const std::string& status, int64_t within_ns) const {
  tell("STATUS=" + status + "\nEXTEND_TIMEOUT_USEC=" + std::to_string(within_ns / kNsPerUs));
}

bool ServiceManager::listens() const { return wanted_ && std::getenv("NOTIFY_SOCKET") != nullptr; }

void ServiceManager::tell(const std::string& state) const {
  if (!listens()) return;
  const int told = sd_notify(0, state.c_str());
  if (told < 0) log_warning("the service manager could not be told: {}", std::strerror(-told));
}

}  // namespace weir::server
