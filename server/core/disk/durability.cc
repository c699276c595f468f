#include "server/core/disk/durability.h"

#include <algorithm>

#include "base/time_units.h"

namespace weir::server {
namespace {

constexpr int64_t kSyncIntervalNs = kNsPerS;
constexpr int64_t kSyncLateNs = 2 * kNsPerS;

}  // namespace

Coverage Durability::covers(const Told& told, int64_t steady_ns) const {
  constexpr Coverage kCovered{.covered = true};
  if (!told.touched_data || keys_.store_in_use().failed()) return kCovered;
  if (keys_.store_in_use()->appended_turn() < told.turn) return {};
  if (config_.durability == DurabilityLevel::kNo) return kCovered;
  if (keys_.store_in_use()->sync_state().synced_turn >= told.turn) return kCovered;
  if (config_.durability == DurabilityLevel::kAlways) return {};
  const bool late = unsynced_since_ns_ != 0 && steady_ns - unsynced_since_ns_ >= kSyncLateNs;
  return {.covered = !late};
}

storage::Status Durability::sync_when_due(int64_t steady_ns) {
  if (keys_.store_in_use().failed()) return {};
  if (keys_.store_in_use()->appended_turn() < keys_.logged_turn()) {
    if (storage::Status failure = keys_.store_in_use()->append_failure(); !failure.ok())
      return failure;
  }
  if (config_.durability == DurabilityLevel::kNo) return {};
  const storage::SyncState sync = keys_.store_in_use()->sync_state();
  if (!sync.failure.ok()) return sync.failure;
  if (sync.synced_turn >= keys_.logged_turn()) {
    unsynced_since_ns_ = 0;
    return {};
  }
  if (unsynced_since_ns_ == 0) unsynced_since_ns_ = steady_ns;
  if (sync.running) return {};
  // The sync that has ended covered what was appended before it began.
  unsynced_since_ns_ = std::max(unsynced_since_ns_, last_sync_ns_);
  const bool is_early = steady_ns - last_sync_ns_ < kSyncIntervalNs;
  if (config_.durability == DurabilityLevel::kEverysec && is_early) return {};
  last_sync_ns_ = steady_ns;
  keys_.store_in_use()->start_sync();
  return {};
}

int64_t Durability::unsynced_ns(int64_t steady_ns) const {
  return unsynced_since_ns_ == 0 ? 0 : steady_ns - unsynced_since_ns_;
}

}  // namespace weir::server
