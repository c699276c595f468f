// The store that the configuration asks for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "storage/rocks/rocks_store.h"
#include "storage/store/store.h"

namespace weir::server {

// What a data directory on RocksDB is opened with, but for its notices.
storage::RocksOptions rocks_options(const Config& config, int open_tables_max);

// The shard that the store must belong to, and what a new one is made with.
struct StoreShard {
  storage::ShardIdentity identity;
  storage::HashSeed seed{};
};

// Refuses a `dir` whose parent is not there: where a volume is not mounted, the server would begin
// empty. With dir-make-parents, and with storage in memory, nothing is wrong.
Result<void, std::string> check_place(const Config& config);

// Makes the store, which may hold `open_tables_max` files of the state open, and calls `notify`
// from its own threads.
std::unique_ptr<storage::Store> make_store(const Config& config, int open_tables_max,
                                           const std::function<void()>& notify,
                                           const std::optional<StoreShard>& shard = {});

}  // namespace weir::server
