// How the two databases are set up. The reason is given at each setting that is not RocksDB's
// default.
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "storage/rocks/log_memtables.h"
#include "storage/rocks/rocks_internal.h"

namespace weir::storage {
namespace {

constexpr uint64_t kWalBytesMin = 1ull << 20;
constexpr int kFilterBitsPerKey = 10;
// Where writing back lags far behind, the log has tables, and nothing but an opening reads them.
constexpr int kLogOpenTablesMax = 32;
// Memtables that have forgotten their turns cost nothing, and wait for a write-back (rocks_log.cc).
constexpr int kLogMemtablesMax = 64;

rocksdb::Options common_options(const RocksOptions& options) {
  rocksdb::Options set;
  if (options.env != nullptr) set.env = options.env;
  set.info_log = make_rocks_logger(options);
  set.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  set.use_direct_reads = options.direct_reads;
  set.max_background_jobs = 2;
  set.bytes_per_sync = 1 << 20;  // a large file's fsync must not come all at once
  set.stats_dump_period_sec = 0;
  set.stats_persist_period_sec = 0;
  // For small file systems: RocksDB would allocate 4 MiB ahead for each manifest.
  set.manifest_preallocation_size = 64 << 10;
  set.max_manifest_file_size = 4 << 20;
  set.keep_log_file_num = 1;
  set.max_bgerror_resume_count = 0;  // the caller is told of a failure and decides when to go on
  set.skip_stats_update_on_db_open = true;
  set.skip_checking_sst_file_sizes_on_db_open = false;
  set.compression = rocksdb::kNoCompression;
  return set;
}

}  // namespace

Status from_rocks(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  const std::string message = std::string(what) + ": " + status.ToString();
  const bool missing = status.IsIOError() && status.subcode() == rocksdb::Status::kPathNotFound;
  if (status.IsCorruption() || status.IsInvalidArgument() || missing) {
    return Status::corrupt(message);
  }
  return status.IsNoSpace() ? Status::no_space(message) : Status::failed(message);
}

Status open_database(const rocksdb::Options& options, const std::string& path, OpenMode mode,
                     std::unique_ptr<rocksdb::DB>* database) {
  database->reset();  // before the same is opened again
  rocksdb::Options set = options;
  set.create_if_missing = mode == OpenMode::kCreate;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = reads_only(mode) ? rocksdb::DB::OpenForReadOnly(set, path, &opened)
                                                  : rocksdb::DB::Open(set, path, &opened);
  database->reset(opened);
  return from_rocks(status, "cannot open " + path);
}

void add_memory(rocksdb::DB* database, StoreMemory* memory) {
  const auto property = [database](const std::string& name) {
    uint64_t bytes = 0;
    return database != nullptr && database->GetIntProperty(name, &bytes) ? bytes : 0;
  };
  memory->memtables += property(rocksdb::DB::Properties::kSizeAllMemTables);
  memory->block_cache += property(rocksdb::DB::Properties::kBlockCacheUsage);
  memory->table_readers += property(rocksdb::DB::Properties::kEstimateTableReadersMem);
}

rocksdb::Options log_database_options(const RocksOptions& options) {
  rocksdb::Options set = common_options(options);
  const uint64_t wal_bytes = std::max(options.wal_bytes_max, kWalBytesMin);
  // RocksLog flushes before a memtable is full, when most of it was written back. The memtable
  // fills, and turns are written a second time, only if write-back is this late.
  set.write_buffer_size = wal_bytes;
  set.max_write_buffer_number = 4;
  set.max_total_wal_size = wal_bytes;
  set.avoid_flush_during_shutdown = true;  // the WAL has everything
  set.max_open_files = kLogOpenTablesMax;
  // What check_wal() leaves is whole, so RocksDB may drop nothing.
  set.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  // A flush of what was recovered would make the opening wait for an fsync; the WAL keeps it.
  set.avoid_flush_during_recovery = true;
  // RocksDB would allocate a write buffer's worth of each new file in the put of a turn. A file
  // system that has to read its bitmaps for that holds the loop (20 to 920 ms were seen).
  set.allow_fallocate = false;
  // RocksLog removes old files itself. A compaction that finds nothing left to write, which would
  // be the case here, aborts the process if the disk is full just then (another assertion).
  set.disable_auto_compactions = true;
  // A shard's members look for single turns.
  if (!options.shard) {
    set.memtable_factory = std::make_shared<LogMemtables>();
    set.allow_concurrent_memtable_write = false;  // they cannot do it
    // Only a full memtable or RocksLog may begin a flush, and one that forgets is never full.
    set.max_total_wal_size = UINT64_MAX;
    set.flush_verify_memtable_count = false;  // what is forgotten is not there to be counted
    set.max_write_buffer_number = kLogMemtablesMax;
  }
  set.ttl = 0;
  set.periodic_compaction_seconds = 0;
  return set;
}

rocksdb::Options state_database_options(const RocksOptions& options) {
  rocksdb::Options set = common_options(options);
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  // A look-up reads, checks and searches one block. With 4 KiB it took 7.4 us of processor time at
  // ten million keys, with 2 KiB 6.1, for 0.3 bytes more of index for each key; with 1 KiB 5.6, for
  // 0.8 bytes.
  table.block_size = 2 << 10;
  // With filters and indexes in a block cache smaller than they are, an absent key cost 550 us.
  // Partitioned ones made it 4.5 us of processor time in place of 1.5 where all of them fit into
  // the cache, and a key that is there 21 in place of 15. They take 1.7 bytes for a key.
  table.cache_index_and_filter_blocks = false;
  table.format_version = 5;
  set.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Tables kept open with their filters in memory; opening loads a quarter of them at most.
  set.max_open_files = options.open_tables_max;
  set.write_buffer_size = 1 << 20;  // never used
  set.level_compaction_dynamic_level_bytes = true;
  // A write-back over uniform keys overlaps all of the level below, so fewer merges are better:
  // with 4 files compaction took a third of the process' CPU at ten million keys. Filters keep
  // reads cheap.
  set.level0_file_num_compaction_trigger = 10;
  set.max_bytes_for_level_base = 256 << 20;
  set.target_file_size_base = 64 << 20;
  const auto interval_s =
      static_cast<uint64_t>(std::max<int64_t>(options.expired_compaction_interval_s, 1));
  set.ttl = 0;  // does what periodic compaction does, except for the lowest level
  set.periodic_compaction_seconds = interval_s;
  return set;
}

}  // namespace weir::storage
