// A file system on which, from a moment on, nothing can be written: every write, sync and creation
// fails, as with a full disk or a dying one. Reads go on.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace weir::storage {

class FaultyFs : public rocksdb::FileSystemWrapper {
 public:
  enum class Fault { kNone, kNoSpace, kIoError };

  FaultyFs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "faulty"; }

  rocksdb::IOStatus verdict() const {
    switch (fault.load()) {
      case Fault::kNone:
        break;
      case Fault::kNoSpace:
        return rocksdb::IOStatus::NoSpace("injected");
      case Fault::kIoError:
        return rocksdb::IOStatus::IOError("injected");
    }
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    const auto status = verdict();
    return status.ok() ? target()->LinkFile(from, to, options, debug) : status;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const auto status = verdict();
    return status.ok() ? target()->RenameFile(from, to, options, debug) : status;
  }

  std::atomic<Fault> fault{Fault::kNone};
};

class FaultyFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(const FaultyFs* fs, std::unique_ptr<rocksdb::FSWritableFile>&& file)
      : FSWritableFileOwnerWrapper(std::move(file)), fs_(fs) {}

  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    const auto status = fs_->verdict();
    if (status.ok()) return FSWritableFileOwnerWrapper::Append(data, options, debug);
    // A full disk takes what still fits.
    const rocksdb::Slice half(data.data(), data.size() / 2);
    FSWritableFileOwnerWrapper::Append(half, options, debug).PermitUncheckedError();
    return status;
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const auto status = fs_->verdict();
    return status.ok() ? FSWritableFileOwnerWrapper::Sync(options, debug) : status;
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const auto status = fs_->verdict();
    return status.ok() ? FSWritableFileOwnerWrapper::Fsync(options, debug) : status;
  }

 private:
  const FaultyFs* fs_;
};

// What a log is synced by.
class FaultySyncedFile : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  FaultySyncedFile(const FaultyFs* fs, std::unique_ptr<rocksdb::FSRandomRWFile>&& file)
      : FSRandomRWFileOwnerWrapper(std::move(file)), fs_(fs) {}
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const auto status = fs_->verdict();
    return status.ok() ? FSRandomRWFileOwnerWrapper::Sync(options, debug) : status;
  }

 private:
  const FaultyFs* fs_;
};

inline rocksdb::IOStatus FaultyFs::NewRandomRWFile(const std::string& name,
                                                   const rocksdb::FileOptions& options,
                                                   std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                                   rocksdb::IODebugContext* debug) {
  const auto status = target()->NewRandomRWFile(name, options, result, debug);
  if (status.ok()) *result = std::make_unique<FaultySyncedFile>(this, std::move(*result));
  return status;
}

inline rocksdb::IOStatus FaultyFs::NewWritableFile(const std::string& name,
                                                   const rocksdb::FileOptions& options,
                                                   std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                   rocksdb::IODebugContext* debug) {
  auto status = verdict();
  if (status.ok()) status = target()->NewWritableFile(name, options, result, debug);
  if (status.ok()) *result = std::make_unique<FaultyFile>(this, std::move(*result));
  return status;
}

}  // namespace weir::storage
