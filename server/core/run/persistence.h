// The parts that stand between the turn and the disk that keeps it.
#pragma once

#include <memory>

#include "server/core/disk/checkpoints.h"
#include "server/core/disk/clock_keeper.h"
#include "server/core/disk/durability.h"
#include "server/core/disk/storage_health.h"

namespace weir::server {

struct Persistence {
  Persistence(const Config* config, Clock* clock, Timeline* timeline, storage::Keyspace* keys,
              const DurabilityFactory& make_durability)
      : health(config, clock, keys),
        durability(make_durability ? make_durability(config, keys)
                                   : std::make_unique<Durability>(config, keys)),
        checkpoints(config, keys, clock, &health),
        clock_keeper(timeline, keys) {}

  StorageHealth health;
  std::unique_ptr<Durability> durability;
  Checkpoints checkpoints;
  ClockKeeper clock_keeper;
};

}  // namespace weir::server
