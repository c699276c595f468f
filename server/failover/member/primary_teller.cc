#include "server/failover/member/primary_teller.h"

#include <utility>

#include "server/core/shard/membership.h"
#include "server/pubsub/pubsub.h"

namespace weir::server {
namespace {

std::string words(const std::string& address) {
  const HostAndPort parts = host_and_port(address);
  return " " + std::string(parts.host) + " " + std::string(parts.port);
}

}  // namespace

void PrimaryTeller::look(const std::string& shard, const std::string& address, Pubsub* pubsub) {
  if (address.empty() || address == told_) return;
  const std::string before = std::exchange(told_, address);
  if (before.empty()) return;
  pubsub->publish(SubscriptionKind::kChannel, "+switch-master",
                  shard + words(before) + words(address));
}

}  // namespace weir::server
