// Tells a service manager how the server is doing: systemd's notification protocol (sd_notify(3)).
#pragma once

#include <string>

namespace weir::server {

class ServiceManager {
 public:
  // `wanted`: option supervised asks for it. Without NOTIFY_SOCKET in the environment nobody is
  // told.
  explicit ServiceManager(bool wanted) : wanted_(wanted) {}

  // Tells whether there is a service manager to notify.
  bool listens() const;
  void ready(const std::string& status) const { tell("READY=1\nSTATUS=" + status); }
  void status(const std::string& status) const { tell("STATUS=" + status); }
  void stopping() const { tell("STOPPING=1\nSTATUS=stopping: writing everything down"); }

 private:
  void tell(const std::string& state) const;

  bool wanted_;
};

}  // namespace weir::server
