#include "server/core/run/reload.h"

#include "server/os/log.h"

namespace weir::server {

std::vector<Reload::Outcome> Reload::run() const {
  std::vector<Outcome> outcomes;
  for (const auto& [name, act, files] : participants_) {
    Result<Reloaded, std::string> read = act();
    if (read && *read == Reloaded::kNew) {
      log_info("reload: {}: done", name);
    } else if (read) {
      log_debug("reload: {}: as it was", name);
    } else {
      log_error("reload: {}: failed, going on with what was there: {}", name, read.error());
    }
    outcomes.push_back({.name = name, .read = std::move(read)});
  }
  return outcomes;
}

FileWatch::Paths Reload::files() const {
  FileWatch::Paths paths;
  for (const Participant& participant : participants_) {
    if (!participant.files) continue;
    for (std::string& path : participant.files()) paths.push_back(std::move(path));
  }
  return paths;
}

void Reload::run_if_changed(int64_t steady_ns) {
  const FileWatch::Paths changed = watch_.look(files(), steady_ns);
  for (const std::string& path : changed) log_info("watch-files: {} has changed", path);
  if (!changed.empty()) (void)run();
}

}  // namespace weir::server
