// What the parts of the RocksDB store share: RocksDB's statuses and options, its log, its events.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>
#include <string_view>

#include "storage/format/status.h"
#include "storage/rocks/rocks_settings.h"
#include "storage/store/store.h"

namespace weir::storage {

inline rocksdb::Slice slice_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view view_of(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// Translates RocksDB's status. A missing file counts as damage: every file here was made by the
// store and is never taken away.
Status from_rocks(const rocksdb::Status& status, std::string_view what);

// Makes the logger for RocksDB, which hands warnings and errors on. RocksDB's own logger aborts the
// process when the disk is full.
std::shared_ptr<rocksdb::Logger> make_rocks_logger(const RocksOptions& options);

// kReadOnly writes nothing but what cuts off the log's damaged end: what is there is read, the
// log's last turns included. kInspect does not even do that: it reads the log up to there.
enum class OpenMode { kCreate, kExisting, kReadOnly, kInspect };
inline bool reads_only(OpenMode mode) {
  return mode == OpenMode::kReadOnly || mode == OpenMode::kInspect;
}
Status open_database(const rocksdb::Options& options, const std::string& path, OpenMode mode,
                     std::unique_ptr<rocksdb::DB>* database);

// Adds what a database holds in memory.
void add_memory(rocksdb::DB* database, StoreMemory* memory);

rocksdb::Options log_database_options(const RocksOptions& options);
rocksdb::Options state_database_options(const RocksOptions& options);

}  // namespace weir::storage
