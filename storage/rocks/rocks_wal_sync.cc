#include "storage/rocks/rocks_wal_sync.h"

#include <set>
#include <vector>

#include "storage/rocks/rocks_internal.h"

namespace weir::storage {
namespace {

const rocksdb::IOOptions kIo;

bool is_wal(const std::string& name) { return name.ends_with(".log"); }

}  // namespace

Status RocksWalSync::sync() {
  const std::lock_guard lock(mutex_);
  return from_rocks(sync_files(), "cannot sync the log " + directory_);
}

rocksdb::IOStatus RocksWalSync::sync_files() {
  std::vector<std::string> names;
  auto status = fs_->GetChildren(directory_, kIo, &names, nullptr);
  std::erase_if(names, [](const std::string& name) { return !is_wal(name); });
  const std::set<std::string> present(names.begin(), names.end());
  std::erase_if(files_, [&](const auto& file) { return !present.contains(file.first); });
  bool any_new = false;
  for (const std::string& name : present) {
    if (!status.ok()) break;
    any_new = any_new || !files_.contains(name);
    status = sync_file(name);
  }
  // RocksDB leaves it to the first caller that syncs a new file to sync the file's name.
  return status.ok() && any_new ? sync_directory() : status;
}

rocksdb::IOStatus RocksWalSync::sync_file(const std::string& name) {
  auto& file = files_[name];
  if (!file) {
    const std::string path = directory_ + "/" + name;
    const auto status = fs_->NewRandomRWFile(path, rocksdb::FileOptions(), &file, nullptr);
    if (!status.ok()) files_.erase(name);
    // RocksDB has deleted the file since: its turns are elsewhere.
    if (status.IsPathNotFound()) return rocksdb::IOStatus::OK();
    if (!status.ok()) return status;
  }
  return file->Sync(kIo, nullptr);
}

rocksdb::IOStatus RocksWalSync::sync_directory() {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  const auto status = fs_->NewDirectory(directory_, kIo, &directory, nullptr);
  if (!status.ok()) return status;
  return directory->FsyncWithDirOptions(kIo, nullptr, rocksdb::DirFsyncOptions());
}

}  // namespace weir::storage
