// Asks the shard's primary for a switchover, over a connection to it and on a thread of its own.
// What becomes of that is told in the log.
//
// A primary that has not yet heard that this member follows refuses, and is asked again for
// kTriesForNs: members tell one another of themselves every two seconds.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time_units.h"
#include "server/failover/peers/peer.h"
#include "storage/store/worker_thread.h"

namespace weir::server {

class SwitchoverRequest {
 public:
  // How long the primary may be silent.
  static constexpr int64_t kSilenceS = 5;
  static constexpr int64_t kTriesForNs = 5 * kNsPerS;

  explicit SwitchoverRequest(PeerAccess access) : access_(std::move(access)) {}
  ~SwitchoverRequest() { is_ending_ = true; }

  // Returns at once. Fails while an earlier request is on its way. `primary` is its "host:port",
  // `node` the name of who asks.
  Result<void, std::string> ask(std::string primary, std::string node);

 private:
  Result<void, std::string> ask_until_given(const std::string& primary, const std::string& node);

  const PeerAccess access_;
  std::atomic<bool> is_asking_{false};
  std::atomic<bool> is_ending_{false};
  std::unique_ptr<storage::WorkerThread> worker_;  // made by the first request; ends first
};

}  // namespace weir::server
