// The parts that stand between the turn and what keeps it: the disk, and other machines.
#pragma once

#include <memory>

#include "server/core/checkpoints.h"
#include "server/core/clock_keeper.h"
#include "server/core/durability.h"
#include "server/core/office.h"
#include "server/core/storage_health.h"

namespace weir::server {

struct Persistence {
  Persistence(const Config* config, Clock* clock, Timeline* timeline, storage::Keyspace* keys,
              const DurabilityFactory& make_durability, const Office& its_office)
      : health(config, clock, keys),
        durability(make_durability ? make_durability(config, keys)
                                   : std::make_unique<Durability>(config, keys)),
        checkpoints(config, keys, clock, &health),
        clock_keeper(timeline, keys),
        office(its_office) {}

  StorageHealth health;
  std::unique_ptr<Durability> durability;
  Checkpoints checkpoints;
  ClockKeeper clock_keeper;
  Office office;
};

}  // namespace weir::server
