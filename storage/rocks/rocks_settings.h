// What the store on RocksDB is opened with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time_units.h"
#include "storage/format/shard_identity.h"
#include "storage/store/bookmarked_turns.h"
#include "storage/store/store.h"

namespace rocksdb {
class Env;
}

namespace weir::storage {

// kDebug: nothing is wrong, or it was told within a minute.
enum class RocksLogLevel { kDebug, kWarning, kError };

// Descriptors: the state holds at most `open_tables_max` files open to read from. All else comes to
// no more than kDescriptorsBesideTables: files being written, manifests, locks and folders of both
// databases, the log's own tables, and tables beyond the bound while a compaction or a walk over
// many of them runs.
inline constexpr int kOpenTablesMin = 32;
inline constexpr int kOpenTablesMax = 1024;
inline constexpr int kDescriptorsBesideTables = 128;

struct RocksOptions {
  std::string directory;
  // Receives RocksDB's own warnings and errors, a line each. Called from any thread.
  std::function<void(RocksLogLevel level, const std::string& message)> log = {};
  // The log's files on disk take about this much at most. At least 1 MiB.
  uint64_t wal_bytes_max = 64ull << 20;
  uint64_t block_cache_bytes = 32ull << 20;
  int open_tables_max = kOpenTablesMax;
  // How much of the log stays after its turns are written back, where it has bookmarks.
  BookmarkedTurns::Kept bookmarked_kept = {};
  // The size of a file that is given up when an opening finds the disk full (reserve_file.h). 0:
  // none.
  uint64_t reserve_bytes = 0;
  // The store is opened to be looked at: not a byte of the directory is changed, nothing can be
  // written, and a directory that a server uses is refused.
  bool inspect = false;
  // The shard that the directory must belong to; none: it must belong to none. One that is looked
  // at may belong to any.
  std::optional<ShardIdentity> shard = {};
  HashSeed shard_seed{};  // of a directory that is made for the shard
  ShardStep shard_step = ShardStep::kNone;
  bool direct_reads = false;  // past the system's page cache
  // Expired records are gone from the disk within this time plus that of a compaction, also where
  // nothing is written any more, as long as write-backs (empty ones will do) come by.
  int64_t expired_compaction_interval_s = 6 * kSPerHour;
  // Another file system or clock, for tests. It must outlive the store.
  rocksdb::Env* env = nullptr;
};

}  // namespace weir::storage
