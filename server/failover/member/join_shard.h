// How a server becomes a member of a shard when it starts.
//
// A directory that belongs to the shard goes on where it was. An empty one joins: it takes the
// shard's identity from the beginning of the log. Any other is refused.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "server/core/disk/make_store.h"
#include "server/failover/member/shard_member.h"
#include "server/os/clock.h"

namespace weir::server {

struct Joined {
  StoreShard store;
  std::unique_ptr<ShardMember> member;
};

// Fails with why this configuration and this directory cannot be a member's. `on_failure` as in
// MemberPlan; `tell` as in PullPlan, of the data that an empty directory begins with. REQUIRES:
// config.log is not empty.
Result<Joined, std::string> join_shard(const Config& config, Clock* clock, uint64_t seed,
                                       std::function<void(const std::string& why)> on_failure,
                                       decltype(PullPlan::tell) tell);

// What is wrong with the options of a member, as --check-config tells it.
Result<void, std::string> check_member_options(const Config& config);

}  // namespace weir::server
