// weir-server --new-shard and --leave-shard: a data directory becomes the beginning of a shard, and
// a directory of a shard becomes one of none.
//
// Invariants
// 1. A shard is made in an empty log only, by one record, GENESIS; of several that try, one does.
// 2. GENESIS names the directory that it was made from. If the process dies between that record and
//    the directory's own note of it, the same command finishes what it had begun.
// 3. Neither changes a record of the data: a directory that leaves has all turns that it had.
// 4. A shard of several is made by their founding text, and holds no key of another one's slots.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/cluster/founding.h"
#include "server/os/clock.h"
#include "storage/replication/shared_log.h"
#include "storage/rocks/rocks_store.h"

namespace weir::server {

struct ShardPlan {
  storage::RocksOptions store;  // the directory, which no server may use
  std::string name;             // of the shard
  uint64_t databases = 0;
  storage::replication::SharedLog* log = nullptr;
  Clock* clock = nullptr;
  std::array<uint64_t, 3> random{};  // drawn from the system: ids, and a nonce
  // What makes the cluster; none: it is one of this shard, with all slots and an id that is drawn.
  std::optional<Founding> founding = {};
};

// Makes the shard of what the directory holds, perhaps nothing. `said` is a line for people.
Result<void, std::string> make_shard(const ShardPlan& plan, std::string* said);

// Takes the directory out of its shard, whatever its log is.
Result<void, std::string> leave_shard(storage::RocksOptions options);

}  // namespace weir::server
