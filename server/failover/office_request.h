// Asks the shard's owner for its office, over a connection to it and on a thread of its own. What
// becomes of that is told in the log.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/failover/peer.h"
#include "storage/store/worker_thread.h"

namespace weir::server {

class OfficeRequest {
 public:
  // How long the owner may be silent.
  static constexpr int64_t kSilenceS = 5;

  explicit OfficeRequest(PeerAccess access) : access_(std::move(access)) {}

  // Returns at once. Fails while an earlier request is on its way. `owner` is its "host:port",
  // `node` the name of who asks.
  Result<void, std::string> ask(std::string owner, std::string node);

 private:
  const PeerAccess access_;
  std::atomic<bool> is_asking_{false};
  std::unique_ptr<storage::WorkerThread> worker_;  // made by the first request; ends first
};

}  // namespace weir::server
