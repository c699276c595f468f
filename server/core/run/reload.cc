#include "server/core/run/reload.h"

#include "server/os/log.h"

namespace weir::server {

std::vector<Reload::Outcome> Reload::run() const {
  std::vector<Outcome> outcomes;
  for (const auto& [name, act] : participants_) {
    Result<void, std::string> read = act();
    if (read) {
      log_info("reload: {}: done", name);
    } else {
      log_error("reload: {}: failed, going on with what was there: {}", name, read.error());
    }
    outcomes.push_back({.name = name, .read = std::move(read)});
  }
  return outcomes;
}

}  // namespace weir::server
