#include "server/core/disk/make_store.h"

#include "server/os/log.h"
#include "storage/memory/memory_store.h"

namespace weir::server {

storage::RocksOptions rocks_options(const Config& config, int open_tables_max) {
  storage::RocksOptions options;
  options.directory = config.dir;
  options.wal_bytes_max = static_cast<uint64_t>(config.wal_bytes_max);
  options.block_cache_bytes = static_cast<uint64_t>(config.block_cache_size);
  options.reserve_bytes = static_cast<uint64_t>(config.disk_reserve);
  options.open_tables_max = open_tables_max;
  options.direct_reads = config.direct_reads;
  options.expired_compaction_interval_s = config.expired_compaction_interval_s;
  options.log = [](storage::RocksLogLevel level, const std::string& message) {
    if (level == storage::RocksLogLevel::kError) {
      spdlog::error("rocksdb: {}", message);
    } else {
      spdlog::warn("rocksdb: {}", message);
    }
  };
  return options;
}

std::unique_ptr<storage::Store> make_store(const Config& config, int open_tables_max,
                                           const std::function<void()>& notify,
                                           const std::optional<StoreShard>& shard) {
  std::unique_ptr<storage::Store> store;
  storage::RocksOptions options = rocks_options(config, open_tables_max);
  if (shard) {
    options.shard = shard->identity;
    options.shard_seed = shard->seed;
  }
  switch (config.storage) {
    case StorageForm::kRocksdb:
      store = storage::make_rocks_store(std::move(options));
      break;
    case StorageForm::kMemory:
      store = storage::make_memory_store();
      break;
  }
  store->set_notify(notify);
  return store;
}

}  // namespace weir::server
