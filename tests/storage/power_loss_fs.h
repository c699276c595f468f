// A file system that loses power: what was written and not synced is lost in part, and names made,
// changed or removed without a sync of their directory are as before, from some point on.
//
// Everything goes to real files at once; only what is synced is kept book of. The cut comes at a
// chosen operation, in the middle of whatever the store's threads do then; afterwards every
// operation fails, and apply_cut() makes the real files what a machine would find.
#pragma once

#include <rocksdb/file_system.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::storage {

// WEIR_POWER_JITTER=1: operations let other threads go first now and then, so that threads meet in
// places where they hardly ever meet otherwise. It works best beside other load.
inline void power_loss_jitter() {
  static const bool wanted = std::getenv("WEIR_POWER_JITTER") != nullptr;
  if (!wanted) return;
  static thread_local std::mt19937 random{std::random_device()()};
  if (random() % 6 != 0) return;
  for (unsigned left = random() % 3000; left > 0; --left) std::this_thread::yield();
}

// How many lives a machine has: WEIR_POWER_LIVES, or so many. Not all of them end by a cut.
inline int power_loss_lives(int usual) {
  const char* given = std::getenv("WEIR_POWER_LIVES");
  return given != nullptr ? std::atoi(given) : usual;
}
// Tells whoever has asked for more lives how many of them ended by a cut.
inline void show_power_cuts(int cuts) {
  if (std::getenv("WEIR_POWER_LIVES") != nullptr) std::printf("power cuts: %d\n", cuts);
}

class PowerLossFs : public rocksdb::FileSystemWrapper {
 public:
  // `graveyard` is a directory of its own, where what is removed stays as long as it may return.
  explicit PowerLossFs(std::string graveyard)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), graveyard_(std::move(graveyard)) {}
  const char* Name() const override { return "power loss"; }

  // The power goes at the `operations`-th change of anything from now.
  void cut_after(uint64_t operations);
  void cut_now() { cut_after(1); }
  bool is_cut() const;
  // REQUIRES: whoever used the file system is gone.
  void apply_cut(std::mt19937_64* random);

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;

  // For the files.
  rocksdb::IOStatus operate();
  void wrote(const std::string& path);
  void synced(const std::string& path);
  void synced_directory(const std::string& path);

 private:
  // A name that its directory was not synced for since.
  struct Renaming {
    std::string name;
    std::string before;  // a link to what it named; empty: nothing
  };

  void remember(const std::string& name);
  std::string bury(const std::string& name);
  void remove_for_good(const std::string& name);
  static uint64_t inode(const std::string& path);
  void cut_contents(const std::string& path, uint64_t synced, std::mt19937_64* random);

  const std::string graveyard_;
  mutable std::mutex mutex_;
  uint64_t operations_left_ = 0;  // 0: no cut is coming
  bool cut_ = false;
  uint64_t buried_ = 0;
  std::map<uint64_t, uint64_t> synced_bytes_;               // by inode, of files written to since
  std::map<std::string, std::vector<Renaming>> renamings_;  // by directory
};

class LossyFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LossyFile(PowerLossFs* fs, std::string path, std::unique_ptr<rocksdb::FSWritableFile>&& file)
      : FSWritableFileOwnerWrapper(std::move(file)), fs_(fs), path_(std::move(path)) {}

  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (auto status = fs_->operate(); !status.ok()) return status;
    fs_->wrote(path_);
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return sync();
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return sync();
  }

 private:
  rocksdb::IOStatus sync() {
    auto status = fs_->operate();
    if (status.ok()) fs_->synced(path_);
    return status;
  }

  PowerLossFs* fs_;
  const std::string path_;
};

class LossySyncedFile : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  LossySyncedFile(PowerLossFs* fs, std::string path,
                  std::unique_ptr<rocksdb::FSRandomRWFile>&& file)
      : FSRandomRWFileOwnerWrapper(std::move(file)), fs_(fs), path_(std::move(path)) {}
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    auto status = fs_->operate();
    if (status.ok()) fs_->synced(path_);
    return status;
  }

 private:
  PowerLossFs* fs_;
  const std::string path_;
};

class LossyDirectory : public rocksdb::FSDirectory {
 public:
  LossyDirectory(PowerLossFs* fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    auto status = fs_->operate();
    if (status.ok()) fs_->synced_directory(path_);
    return status;
  }

 private:
  PowerLossFs* fs_;
  const std::string path_;
};

inline std::string directory_of(const std::string& path) {
  return std::filesystem::path(path).parent_path();
}

inline void PowerLossFs::cut_after(uint64_t operations) {
  const std::lock_guard lock(mutex_);
  operations_left_ = operations;
}

inline bool PowerLossFs::is_cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

inline rocksdb::IOStatus PowerLossFs::operate() {
  power_loss_jitter();
  const std::lock_guard lock(mutex_);
  if (operations_left_ != 0 && --operations_left_ == 0) cut_ = true;
  return cut_ ? rocksdb::IOStatus::IOError("the power is gone") : rocksdb::IOStatus::OK();
}

inline uint64_t PowerLossFs::inode(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

inline void PowerLossFs::wrote(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::error_code gone;
  const uint64_t size = std::filesystem::file_size(path, gone);
  if (!gone) synced_bytes_.try_emplace(inode(path), size);
}

inline void PowerLossFs::synced(const std::string& path) {
  power_loss_jitter();
  const std::lock_guard lock(mutex_);
  std::error_code gone;
  const uint64_t size = std::filesystem::file_size(path, gone);
  if (!gone) synced_bytes_[inode(path)] = size;
}

// The number of an inode without a name is given to the next file, of which nothing is known.
inline void PowerLossFs::remove_for_good(const std::string& name) {
  struct stat facts {};
  if (::stat(name.c_str(), &facts) == 0 && facts.st_nlink == 1) synced_bytes_.erase(facts.st_ino);
  std::filesystem::remove(name);
}

inline void PowerLossFs::synced_directory(const std::string& path) {
  power_loss_jitter();
  const std::lock_guard lock(mutex_);
  for (const Renaming& renaming : renamings_[path]) {
    if (!renaming.before.empty()) remove_for_good(renaming.before);
  }
  renamings_[path].clear();
}

inline std::string PowerLossFs::bury(const std::string& name) {
  if (!std::filesystem::exists(name)) return {};
  const std::string grave = graveyard_ + "/" + std::to_string(buried_++);
  std::filesystem::create_hard_link(name, grave);
  return grave;
}

inline void PowerLossFs::remember(const std::string& name) {
  const std::lock_guard lock(mutex_);
  renamings_[directory_of(name)].push_back({name, bury(name)});
}

inline rocksdb::IOStatus PowerLossFs::NewWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) {
  if (auto status = operate(); !status.ok()) return status;
  remember(name);
  std::filesystem::remove(name);  // a new inode
  auto status = target()->NewWritableFile(name, options, result, debug);
  if (status.ok()) *result = std::make_unique<LossyFile>(this, name, std::move(*result));
  return status;
}

inline rocksdb::IOStatus PowerLossFs::ReopenWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) {
  auto status = target()->ReopenWritableFile(name, options, result, debug);
  if (status.ok()) *result = std::make_unique<LossyFile>(this, name, std::move(*result));
  return status;
}

inline rocksdb::IOStatus PowerLossFs::NewRandomRWFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSRandomRWFile>* result, rocksdb::IODebugContext* debug) {
  auto status = target()->NewRandomRWFile(name, options, result, debug);
  if (status.ok()) *result = std::make_unique<LossySyncedFile>(this, name, std::move(*result));
  return status;
}

inline rocksdb::IOStatus PowerLossFs::NewDirectory(const std::string& name,
                                                   const rocksdb::IOOptions&,
                                                   std::unique_ptr<rocksdb::FSDirectory>* result,
                                                   rocksdb::IODebugContext*) {
  *result = std::make_unique<LossyDirectory>(
      this, std::filesystem::path(name / std::filesystem::path()).parent_path());
  return rocksdb::IOStatus::OK();
}

inline rocksdb::IOStatus PowerLossFs::DeleteFile(const std::string& name,
                                                 const rocksdb::IOOptions& options,
                                                 rocksdb::IODebugContext* debug) {
  if (auto status = operate(); !status.ok()) return status;
  remember(name);
  return target()->DeleteFile(name, options, debug);
}

inline rocksdb::IOStatus PowerLossFs::RenameFile(const std::string& from, const std::string& to,
                                                 const rocksdb::IOOptions& options,
                                                 rocksdb::IODebugContext* debug) {
  if (auto status = operate(); !status.ok()) return status;
  remember(to);
  remember(from);
  return target()->RenameFile(from, to, options, debug);
}

inline rocksdb::IOStatus PowerLossFs::LinkFile(const std::string& from, const std::string& to,
                                               const rocksdb::IOOptions& options,
                                               rocksdb::IODebugContext* debug) {
  if (auto status = operate(); !status.ok()) return status;
  remember(to);
  return target()->LinkFile(from, to, options, debug);
}

// A file system journals its names in order, so that a beginning of the changes survives.
inline void PowerLossFs::apply_cut(std::mt19937_64* random) {
  for (auto& [directory, renamings] : renamings_) {
    const size_t survive = (*random)() % (renamings.size() + 1);
    for (size_t i = renamings.size(); i-- > survive;) {
      std::filesystem::remove(renamings[i].name);
      if (!renamings[i].before.empty())
        std::filesystem::rename(renamings[i].before, renamings[i].name);
    }
  }
  std::set<uint64_t> done;
  for (const auto& [directory, renamings] : renamings_) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;  // its inode may have been a file's before
      const auto synced = synced_bytes_.find(inode(entry.path()));
      if (synced == synced_bytes_.end() || !done.insert(synced->first).second) continue;
      cut_contents(entry.path(), synced->second, random);
    }
  }
  renamings_.clear();
  std::filesystem::remove_all(graveyard_);
}

// Of what was not synced a beginning may survive, and pages of it may never have been written.
inline void PowerLossFs::cut_contents(const std::string& path, uint64_t synced,
                                      std::mt19937_64* random) {
  constexpr uint64_t kPage = 4096;
  const uint64_t size = std::filesystem::file_size(path);
  if (size <= synced) return;
  const uint64_t kept = synced + (*random)() % (size - synced + 1);
  std::filesystem::resize_file(path, kept);
  if ((*random)() % 2 == 0) return;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (uint64_t page = (synced + kPage - 1) / kPage * kPage; page + kPage <= kept; page += kPage) {
    if ((*random)() % 8 != 0) continue;
    file.seekp(static_cast<std::streamoff>(page));
    file << std::string(kPage, '\0');
  }
}

}  // namespace weir::storage
