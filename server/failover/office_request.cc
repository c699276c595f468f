#include "server/failover/office_request.h"

#include <utility>

#include "server/os/log.h"

namespace weir::server {
namespace {

Result<void, std::string> ask_owner(const PeerAccess& access, const std::string& owner,
                                    const std::string& node) {
  const auto client = connect_to_peer(access, owner, OfficeRequest::kSilenceS);
  if (!client) return client.error();
  const auto reply = (*client)->ask({"WEIR", "HANDOVER", node});
  if (!reply) return reply.error();
  if (reply->is_error()) return reply->text;
  return {};
}

}  // namespace

Result<void, std::string> OfficeRequest::ask(std::string owner, std::string node) {
  if (is_asking_.exchange(true))
    return std::string("ERR this member is asking the owner for its office already");
  if (!worker_) worker_ = std::make_unique<storage::WorkerThread>();
  worker_->post([this, owner = std::move(owner), node = std::move(node)] {
    const auto asked = ask_owner(access_, owner, node);
    if (asked) {
      spdlog::info("the owner, {}, was asked for its office and hands it over", owner);
    } else {
      spdlog::warn("the owner, {}, was asked for its office and does not give it: {}", owner,
                   asked.error());
    }
    is_asking_ = false;
  });
  return {};
}

}  // namespace weir::server
