#include "server/core/reload.h"

#include "server/os/log.h"

namespace weir::server {

std::vector<Reload::Outcome> Reload::run() const {
  std::vector<Outcome> outcomes;
  for (const auto& [name, act] : participants_) {
    std::string error = act();
    if (error.empty()) {
      spdlog::info("reload: {}: done", name);
    } else {
      spdlog::error("reload: {}: failed, going on with what was there: {}", name, error);
    }
    outcomes.push_back({.name = name, .error = std::move(error)});
  }
  return outcomes;
}

}  // namespace weir::server
