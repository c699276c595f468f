#include "storage/format/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

Status sync_path(const std::string& path, int flags) {
  const Descriptor descriptor(::open(path.c_str(), flags | O_CLOEXEC));
  if (!descriptor.ok()) return system_failure("cannot open", path);
  if (::fsync(descriptor.get()) != 0) return system_failure("cannot sync", path);
  return {};
}

}  // namespace

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

Status system_failure(std::string_view what, const std::string& path) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  const std::string reason = errno == ELOOP ? "it is a symbolic link, which is not followed here"
                                            : std::generic_category().message(errno);
  std::string message = std::string(what) + " " + path + ": " + reason;
  return full ? Status::no_space(std::move(message)) : Status::failed(std::move(message));
}

Descriptor open_own_file(const std::string& path, int flags, mode_t mode, LinksThere links) {
  const int all_flags = flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  Descriptor opened(::open(path.c_str(), all_flags, mode));
  if (opened.ok() || errno != ELOOP || links == LinksThere::kAreRefused) return opened;
  if (::unlink(path.c_str()) == 0) opened = Descriptor(::open(path.c_str(), all_flags, mode));
  return opened;
}

bool write_and_sync(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(descriptor) == 0;
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Status read_file(const std::string& path, std::string* bytes) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.ok()) return system_failure("cannot open", path);
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0) return system_failure("cannot look at", path);
  bytes->resize(static_cast<size_t>(facts.st_size));
  size_t have = 0;
  while (have < bytes->size()) {
    const ssize_t got = ::read(descriptor.get(), bytes->data() + have, bytes->size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("cannot read", path);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes->resize(have);
  return {};
}

Status write_file(const std::string& path, std::string_view bytes) {
  const Descriptor descriptor = open_own_file(path, O_WRONLY | O_TRUNC, 0644);
  if (!descriptor.ok()) return system_failure("cannot create", path);
  if (!write_and_sync(descriptor.get(), bytes)) return system_failure("cannot write", path);
  return {};
}

Status rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_failure("cannot rename", from);
  return {};
}

Status sync_directory(const std::string& path) { return sync_path(path, O_RDONLY | O_DIRECTORY); }

Status make_directory(const std::string& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) return Status::failed("cannot make " + path + ": " + error.message());
  const fs::path parent = fs::absolute(path).parent_path();
  return made ? sync_directory(parent.string()) : Status();
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? Status::failed("cannot remove " + path + ": " + error.message()) : Status();
}

Status sync_tree(const std::string& path) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const int flags = at->is_directory() ? O_RDONLY | O_DIRECTORY : O_RDONLY;
    if (Status status = sync_path(at->path().string(), flags); !status.ok()) return status;
  }
  if (error) return Status::failed("cannot list " + path + ": " + error.message());
  return sync_directory(path);
}

}  // namespace weir::storage
