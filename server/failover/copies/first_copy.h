// What a directory without data begins with, where the shared log does not hold all of the shard:
// another member's data.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time_units.h"
#include "server/config/config.h"
#include "server/failover/copies/snapshot_pull.h"
#include "server/failover/peers/shard_registry.h"
#include "server/failover/shared_log/open_log.h"
#include "server/os/clock.h"

namespace weir::server {

// How this server copies other members' data.
PullPlan pull_plan(const Config& config);

// Waits, up to kMembersNs for other members to be there, and then as long as the copy takes. The
// data lies in place when it returns. `registry` is the log's, or null.
inline constexpr int64_t kMembersNs = kNsPerMinute;
Result<void, std::string> copy_first_data(const PullPlan& plan, WaitingLog* log,
                                          storage::replication::MemberRegistry* registry,
                                          uint64_t random, Clock* clock);

}  // namespace weir::server
