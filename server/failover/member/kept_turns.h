// The turns that a keyspace's own store keeps, and their bookmarks, as a member of a shard asks for
// them.
#pragma once

#include <functional>

#include "storage/keyspace/keyspace.h"
#include "storage/replication/local_turns.h"

namespace weir::server {

class KeptTurns final : public storage::replication::LocalTurns {
 public:
  using OnFailure = std::function<void(const storage::Status& failure)>;

  // A store that cannot be read is told to `on_failure`; what is answered then means nothing.
  KeptTurns(storage::Keyspace* keys, OnFailure on_failure)
      : keys_(*keys), on_failure_(std::move(on_failure)) {}

  uint64_t newest_turn() const override { return keys_.logged_turn(); }
  std::optional<std::string> turn(uint64_t turn) const override;
  std::vector<storage::replication::LogBookmark> bookmarks() const override;

 private:
  storage::Keyspace& keys_;
  const OnFailure on_failure_;
};

}  // namespace weir::server
