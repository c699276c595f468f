// Tells a service manager how the server is doing: systemd's notification protocol (sd_notify(3)).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weir::server {

class ServiceManager {
 public:
  // `wanted`: option supervised asks for it. Without NOTIFY_SOCKET in the environment nobody is
  // told.
  explicit ServiceManager(bool wanted);

  // Tells whether there is a service manager to notify.
  bool listens() const;
  void ready(const std::string& status) const { tell("READY=1\nSTATUS=" + status); }
  // Tells that the start goes on, and that more will be heard within this time. Else the manager
  // would end a start that takes longer than its TimeoutStartSec=.
  void starting(const std::string& status, int64_t within_ns) const;
  void status(const std::string& status) const { tell("STATUS=" + status); }
  // Tells that the loop comes round, once a second, if the manager wants to hear of that
  // (WatchdogSec=). Call it as often as you like.
  void alive();
  void stopping() const { tell("STOPPING=1\nSTATUS=stopping: writing everything down"); }

 private:
  void tell(const std::string& state) const;

  bool wanted_;
  bool watched_ = false;
  std::chrono::steady_clock::time_point next_alive_ = {};
};

}  // namespace weir::server
