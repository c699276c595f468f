#include "server/core/disk/make_store.h"

#include <filesystem>

#include "server/config/config_words.h"
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
    constexpr EventLevel kLevels[] = {EventLevel::kDebug, EventLevel::kWarning, EventLevel::kError};
    log_event(kLevels[static_cast<size_t>(level)], "rocksdb: {}", message);
  };
  return options;
}

Result<void, std::string> check_place(const Config& config) {
  if (config.storage == StorageForm::kMemory || config.dir_make_parents) return {};
  std::error_code ignored;
  std::filesystem::path dir = std::filesystem::absolute(config.dir, ignored).lexically_normal();
  if (!dir.has_filename()) dir = dir.parent_path();
  if (std::filesystem::exists(dir.parent_path(), ignored)) return {};
  return "dir " + printable(config.dir) + ": its parent " + printable(dir.parent_path().string()) +
         " is not there; if no volume is missing, make it, or set dir-make-parents";
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
