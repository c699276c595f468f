#include "server/session/transaction.h"

#include <algorithm>

namespace weir::server {

void Transaction::queue(const Command& command, Args args) {
  flags_ |= command.flags;
  queued_.add(command, args);
}

void Transaction::watch(storage::Keyspace& keys, int database, std::string_view key) {
  auto place = std::make_pair(database, std::string(key));
  if (watched_.contains(place)) return;
  if (touched_ == nullptr) touched_ = std::make_shared<bool>(false);
  const storage::WatchId id = keys.watches().add(keys.look_up(database, key), touched_);
  watched_.emplace(std::move(place), id);
}

void Transaction::unwatch(storage::Keyspace& keys) {
  for (const auto& [place, id] : watched_) keys.watches().remove(id);
  watched_.clear();
  touched_.reset();
}

bool Transaction::watched_changed(const storage::Watches& watches, int64_t now_ms) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const auto& watched) { return watches.changed(watched.second, now_ms); });
}

void Transaction::clear(storage::Keyspace& keys) {
  unwatch(keys);
  *this = {};
}

}  // namespace weir::server
