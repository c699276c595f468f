#include "server/session/transaction.h"

#include <algorithm>

#include "base/heap_bytes.h"

namespace weir::server {

void Transaction::queue(const Command& command, Args args) {
  flags_ |= command.flags;
  queued_.add(command, args);
  kept_.set(Kept::kQueued, queued_.memory_bytes());
}

void Transaction::watch(storage::Keyspace& keys, int database, std::string_view key) {
  auto place = std::make_pair(database, std::string(key));
  if (watched_.contains(place)) return;
  if (touched_ == nullptr) touched_ = std::make_shared<bool>(false);
  const storage::WatchId id = keys.running().watch(keys.look_up(database, key), touched_);
  const auto watched = watched_.emplace(std::move(place), id).first;
  kept_.add(Kept::kWatches, tree_node_bytes<Watched::value_type>() +
                                heap_bytes(watched->first.second) +
                                keys.watches().memory_bytes(id));
}

void Transaction::unwatch(storage::Keyspace& keys) {
  for (const auto& [place, id] : watched_) keys.watches().remove(id);
  watched_.clear();
  touched_.reset();
  kept_.set(Kept::kWatches, 0);
}

bool Transaction::watched_changed(const storage::Watches& watches, int64_t now_ms) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const auto& watched) { return watches.changed(watched.second, now_ms); });
}

void Transaction::clear(storage::Keyspace& keys) {
  unwatch(keys);
  open_ = aborted_ = false;
  flags_ = 0;
  queued_ = {};
  kept_.set(Kept::kQueued, 0);
}

}  // namespace weir::server
