// Removes directories on a thread of its own: to free a file's blocks may take a file system tens
// of milliseconds, and a directory has hundreds of files.
//
// A removal that the end of the process cuts short leaves the rest; who asks gives what is to go a
// name by which a later process knows it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "storage/store/worker_thread.h"

namespace weir::server {

class Remover {
 public:
  Remover() = default;
  ~Remover() { stopped_ = true; }
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

  // Returns at once. What is not there, or cannot be removed, is passed over.
  void remove(std::vector<std::string> directories);

 private:
  void remove_now(const std::string& directory) const;

  std::atomic<bool> stopped_{false};
  std::unique_ptr<storage::WorkerThread> worker_;  // made by the first removal; ends first
};

}  // namespace weir::server
