// The parts that stand between the turn and the disk.
#pragma once

#include "server/core/checkpoints.h"
#include "server/core/durability.h"
#include "server/core/storage_health.h"

namespace weir::server {

struct Persistence {
  Persistence(const Config* config, Clock* clock, storage::Keyspace* keys)
      : health(config, clock, keys),
        durability(config, keys),
        checkpoints(config, keys, clock, &health) {}

  StorageHealth health;
  Durability durability;
  Checkpoints checkpoints;
};

}  // namespace weir::server
