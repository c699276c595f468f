#include "server/os/file_watch.h"

#include <sys/stat.h>

#include <utility>

namespace weir::server {
namespace {

int64_t ns_of(const timespec& time) { return time.tv_sec * kNsPerS + time.tv_nsec; }

}  // namespace

std::vector<FileWatch::State> FileWatch::states_of(const Paths& paths) {
  std::vector<State> states;
  states.reserve(paths.size());
  for (const std::string& path : paths) {
    struct stat status {};
    State& state = states.emplace_back();
    if (::stat(path.c_str(), &status) != 0) continue;
    state = {.is_there = true,
             .device = status.st_dev,
             .inode = status.st_ino,
             .bytes = status.st_size,
             .modified_ns = ns_of(status.st_mtim),
             .changed_ns = ns_of(status.st_ctim)};
  }
  return states;
}

FileWatch::Paths FileWatch::look(const Paths& paths, int64_t steady_ns) {
  const bool is_first = paths != paths_;
  if (!is_first && steady_ns < next_ns_) return {};
  next_ns_ = steady_ns + kEveryNs;
  std::vector<State> seen = states_of(paths);
  const bool is_settled = std::exchange(seen_, std::move(seen)) == seen_;
  if (is_first) {
    paths_ = paths;
    told_ = seen_;
  }
  if (!is_settled) return {};
  Paths changed;
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (seen_[i] != told_[i]) changed.push_back(paths_[i]);
  }
  told_ = seen_;
  return changed;
}

}  // namespace weir::server
