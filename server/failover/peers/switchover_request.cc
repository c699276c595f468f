#include "server/failover/peers/switchover_request.h"

#include <chrono>
#include <thread>
#include <utility>

#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr int64_t kTryAgainNs = 250 * kNsPerMs;

}  // namespace

Result<void, std::string> SwitchoverRequest::ask_until_given(const std::string& primary,
                                                             const std::string& node) {
  const auto client = connect_to_peer(access_, primary, kSilenceS);
  if (!client) return client.error();
  for (int64_t tries = kTriesForNs / kTryAgainNs;; --tries) {
    const auto reply = (*client)->ask({"WEIR", "SWITCHOVER", node});
    if (!reply) return reply.error();
    if (!reply->is_error()) return {};
    if (tries <= 0 || is_ending_) return reply->text;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kTryAgainNs));
  }
}

Result<void, std::string> SwitchoverRequest::ask(std::string primary, std::string node) {
  if (is_asking_.exchange(true))
    return std::string("ERR this member is asking the primary for a switchover already");
  if (!worker_) worker_ = std::make_unique<storage::WorkerThread>();
  worker_->post([this, primary = std::move(primary), node = std::move(node)] {
    const auto asked = ask_until_given(primary, node);
    if (asked) {
      log_info("the primary, {}, was asked for a switchover and switches over", primary);
    } else {
      log_warning("the primary, {}, was asked for a switchover and does not give it: {}", primary,
                  asked.error());
    }
    is_asking_ = false;
  });
  return {};
}

}  // namespace weir::server
