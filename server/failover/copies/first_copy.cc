#include "server/failover/copies/first_copy.h"

#include "server/os/log.h"

namespace weir::server {

using storage::replication::RegistryView;

namespace {

constexpr int64_t kRetryNs = 500 * kNsPerMs;

}  // namespace

PullPlan pull_plan(const Config& config) {
  PullPlan plan;
  plan.directory = config.dir;
  plan.shard = config.shard;
  plan.peers = peer_access(config);
  return plan;
}

Result<void, std::string> copy_first_data(const PullPlan& plan, WaitingLog* log,
                                          storage::replication::MemberRegistry* registry,
                                          uint64_t random, Clock* clock) {
  const std::atomic<bool> stops{false};
  const int64_t end_ns = clock->steady_ns() + kMembersNs;
  std::string why;
  while (true) {
    (void)log->read({}, 0);  // the member registry is read beside it
    std::vector<Source> sources;
    if (registry != nullptr) sources = sources_of(RegistryView(registry->snapshot()), "");
    auto pulled = pull_snapshot(plan, sources, random, clock, stops);
    if (pulled) {
      log_info("copied the data of member {}: {} files, {} bytes", pulled->from, pulled->files,
               pulled->bytes);
      return install_snapshot(plan.directory);
    }
    if (plan.tell) plan.tell("waiting for a member whose data can be copied", kMembersNs);
    if (pulled.error() != why) log_warning("{}", why = pulled.error());
    if (clock->steady_ns() >= end_ns)
      return "the shared log does not hold all of shard " + plan.shard +
             ", and no other member's data can be copied: " + why;
    clock->sleep_ns(kRetryNs);
  }
}

}  // namespace weir::server
