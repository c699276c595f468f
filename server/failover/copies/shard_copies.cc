#include "server/failover/copies/shard_copies.h"

#include <utility>

#include "base/time_units.h"
#include "server/os/log.h"
#include "storage/format/file.h"

namespace weir::server {

ShardCopies::ShardCopies(const PullPlan& plan, Server* server, Clock* clock, Snapshots::Place place)
    : directory_(plan.directory),
      clock_(*clock),
      given_(directory_.empty() ? "" : directory_ + "/snapshots",
             &server->persistence().checkpoints, clock, std::move(place)) {
  if (directory_.empty()) return;
  pull_ = std::make_unique<SnapshotPull>(plan);
  adopted();
}

bool ShardCopies::has_copied(const Sources& sources, uint64_t random) {
  if (!pull_) return false;
  const int64_t now_ns = clock_.boot_ns();
  if (const auto ended = pull_->take()) {
    begin_at_ns_ = now_ns + kAgainNs;
    if (*ended) {
      log_info("copied the data of member {}: {} files, {} bytes", (*ended)->from, (*ended)->files,
               (*ended)->bytes);
      return true;
    }
    log_warning("the data of another member cannot be copied yet: {}", ended->error());
  }
  if (!pull_->running() && now_ns >= begin_at_ns_) pull_->start(sources(), random);
  return false;
}

void ShardCopies::adopted() {
  const std::string aside = data_set_aside(directory_);
  if (!std::exchange(keeps_old_data_, false)) return remover_.remove({aside});
  const std::string kept =
      directory_ + "/before-rejoin-" + std::to_string(clock_.wall_ns() / kNsPerS);
  if (const auto named = storage::rename_file(aside, kept); !named.ok())
    return log_warning("the data that this member had is lost: {}", named.message());
  log_warning("the data that this member had lies in {}, which nothing needs any more", kept);
}

}  // namespace weir::server
