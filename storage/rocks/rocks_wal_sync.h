// Syncs the WAL files of a database beside RocksDB, which has written every record to them when a
// write returns.
//
// RocksDB's SyncWAL() is not used: if an append has just failed, on a full disk for instance, it
// aborts the process in a build with assertions, and Debian's is one.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage/format/status.h"

namespace weir::storage {

class RocksWalSync {
 public:
  RocksWalSync(rocksdb::Env* env, std::string directory)
      : fs_(env->GetFileSystem()), directory_(std::move(directory)) {}

  // Syncs on any thread. Everything written before the call is on the disk when it has returned ok.
  Status sync();

 private:
  rocksdb::IOStatus sync_files();
  rocksdb::IOStatus sync_file(const std::string& name);
  rocksdb::IOStatus sync_directory();

  const std::shared_ptr<rocksdb::FileSystem> fs_;
  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<rocksdb::FSRandomRWFile>> files_;  // by name
};

}  // namespace weir::storage
