#include "server/core/disk/remover.h"

#include <filesystem>
#include <system_error>

namespace weir::server {

void Remover::remove(std::vector<std::string> directories) {
  if (directories.empty()) return;
  if (worker_ == nullptr) worker_ = std::make_unique<storage::WorkerThread>();
  worker_->post([this, directories = std::move(directories)] {
    for (const std::string& directory : directories) remove_now(directory);
  });
}

void Remover::remove_now(const std::string& directory) const {
  using Walk = std::filesystem::recursive_directory_iterator;
  std::error_code error;
  for (Walk at(directory, error), end; !error && at != end; at.increment(error)) {
    if (stopped_) return;
    std::error_code ignored;
    if (!at->is_directory(ignored) || at->is_symlink(ignored))
      std::filesystem::remove(at->path(), ignored);
  }
  std::error_code ignored;
  if (!stopped_) std::filesystem::remove_all(directory, ignored);
}

}  // namespace weir::server
