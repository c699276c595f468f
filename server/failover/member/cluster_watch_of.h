// What asks the other shards' members for a member as it is configured.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/config/config.h"
#include "server/failover/member/member_plan.h"
#include "server/failover/peers/cluster_watch.h"
#include "server/os/clock.h"
#include "storage/format/shard_identity.h"

namespace weir::server {

// The file CLUSTER in a directory, which a thread writes.
std::unique_ptr<ClusterKeeper> cluster_file_in(const std::string& directory);

// The clock outlives what is made.
decltype(MemberPlan::make_watch) cluster_watch_of(const Config& config,
                                                  const storage::ShardIdentity& shard,
                                                  Clock* clock);

// What asks other shards for their settings.
decltype(MemberPlan::make_settings_peers) settings_peers_of(const Config& config, Clock* clock);

}  // namespace weir::server
