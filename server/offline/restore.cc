#include "server/offline/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "storage/format/file.h"
#include "storage/rocks/rocks_directory.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;
constexpr size_t kRestorePieceBytes = 1 << 20;
constexpr const char* kIdentity = "WEIR";
constexpr const char* kParts[] = {"log", "state"};
constexpr std::string_view kRestoringText =
    "A restore into this directory has begun. Where none is running, it did not end:\n"
    "remove the directory, and restore again.\n";

std::string failure(std::string_view what, const fs::path& path) {
  return std::string(what) + " " + path.string() + ": " + std::strerror(errno);
}

struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

// Nothing: what is written keeps the owner that it gets.
std::optional<Owner> owner_of(const fs::path& path) {
  struct stat found {};
  if (::geteuid() != 0 || ::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Owner{found.st_uid, found.st_gid};
}

fs::path nearest_folder(const std::string& target) {
  std::error_code ignored;
  fs::path path = fs::absolute(target, ignored);
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

Result<void, std::string> give(const fs::path& path, mode_t mode, const std::optional<Owner>& to) {
  if (to && ::lchown(path.c_str(), to->user, to->group) != 0)
    return failure("cannot give away", path);
  if (::chmod(path.c_str(), mode) != 0) return failure("cannot set the mode of", path);
  return {};
}

// What RocksDB writes for people, and this directory's own lock, is not part of the data.
bool is_data(const std::string& name) { return name != "LOCK" && !name.starts_with("LOG"); }

// The one who has written the checkpoint may be no more than the service's user, and root gives him
// what is restored: a link would give him any file.
std::string link_error(const fs::path& path) {
  return path.string() + " is a symbolic link, which no checkpoint has";
}

struct Copy {
  fs::path from;
  fs::path to;
  uint64_t bytes = 0;
};

Result<std::vector<Copy>, std::string> files_of(const fs::path& source, const fs::path& target) {
  std::vector<Copy> copies;
  std::error_code error;
  for (const char* part : kParts) {
    for (fs::directory_iterator at(source / part, error), end; !error && at != end;
         at.increment(error)) {
      if (!is_data(at->path().filename())) continue;
      std::error_code unknown;
      if (at->is_symlink(unknown)) return link_error(at->path());
      const bool is_file = at->is_regular_file(unknown);
      const uint64_t size = is_file ? at->file_size(unknown) : 0;
      if (unknown) return "cannot look at " + at->path().string() + ": " + unknown.message();
      if (is_file) copies.push_back({at->path(), target / part / at->path().filename(), size});
    }
    if (error) return "cannot read " + (source / part).string() + ": " + error.message();
  }
  copies.push_back({source / kIdentity, target / kIdentity, 0});
  return copies;
}

Result<void, std::string> copy_file(const Copy& copy, const std::optional<Owner>& owner) {
  const storage::Descriptor from(::open(copy.from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from.ok() && errno == ELOOP) return link_error(copy.from);
  if (!from.ok()) return failure("cannot read", copy.from);
  const storage::Descriptor to(
      ::open(copy.to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!to.ok()) return failure("cannot write", copy.to);
  std::vector<char> piece(kRestorePieceBytes);
  for (;;) {
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("cannot read", copy.from);
    if (got == 0) break;
    for (ssize_t at = 0; at < got;) {
      const ssize_t put = ::write(to.get(), piece.data() + at, static_cast<size_t>(got - at));
      if (put < 0 && errno != EINTR) return failure("cannot write", copy.to);
      if (put > 0) at += put;
    }
  }
  if (::fsync(to.get()) != 0) return failure("cannot sync", copy.to);
  return give(copy.to, kFileMode, owner);
}

Result<void, std::string> done(const storage::Status& status) {
  if (!status.ok()) return status.message();
  return {};
}

// Makes the folders, and the mark before all that it is about.
Result<void, std::string> begin_target(const fs::path& target, const std::string& mark,
                                       const std::optional<Owner>& owner) {
  for (const fs::path& folder : {target, target / "log", target / "state"}) {
    if (auto made = done(storage::make_directory(folder)); !made) return made;
    if (auto given = give(folder, kFolderMode, owner); !given) return given;
    if (folder != target) continue;
    if (auto marked = done(storage::write_file(mark, kRestoringText)); !marked) return marked;
    if (auto synced = done(storage::sync_directory(target)); !synced) return synced;
  }
  return {};
}

}  // namespace

Result<void, std::string> check_target(const std::string& source, const std::string& target) {
  std::error_code error;
  if (fs::exists(target, error) && !fs::is_directory(target, error))
    return target + " is no directory";
  for (const std::string& folder : {source, target}) {
    if (fs::exists(storage::RocksDirectory(folder).restoring_path(), error))
      return folder +
             " is what a --restore that did not end has left, and no data: remove it before the "
             "next attempt";
  }
  if (fs::exists(target, error) && !fs::is_empty(target, error))
    return target +
           " is not empty: nothing is restored over data that is there; move it away, "
           "or name another directory by --dir";
  if (error) return "cannot look at " + target + ": " + error.message();
  const auto files = files_of(source, target);
  if (!files) return files.error();
  uint64_t bytes = 0;
  for (const Copy& copy : *files) bytes += copy.bytes;
  const auto space = fs::space(nearest_folder(target), error);
  if (!error && space.available < bytes)
    return "the disk of " + target + " has room for " + size_text(space.available) + ", and " +
           size_text(bytes) + " are to be written";
  return {};
}

Result<void, std::string> restore_data(const std::string& source, const std::string& target,
                                       Progress* progress) {
  if (auto fits = check_target(source, target); !fits) return fits;
  const auto owner = owner_of(nearest_folder(target));
  const auto files = files_of(source, target);
  if (!files) return files.error();
  uint64_t all = 0;
  for (const Copy& copy : *files) all += copy.bytes;
  const std::string mark = storage::RocksDirectory(target).restoring_path();
  if (auto begun = begin_target(target, mark, owner); !begun) return begun;
  uint64_t bytes = 0;
  for (const Copy& copy : *files) {
    if (copy.to.filename() == kIdentity) {  // the last one, when all else is on the disk
      if (auto synced = done(storage::sync_tree(target)); !synced) return synced;
    }
    if (auto copied = copy_file(copy, owner); !copied) return copied;
    bytes += copy.bytes;
    if (progress->is_due())
      progress->show("restoring", bytes, all, size_text(bytes) + " of " + size_text(all));
  }
  progress->clear();
  if (auto synced = done(storage::sync_tree(target)); !synced) return synced;
  if (::unlink(mark.c_str()) != 0) return failure("cannot remove", mark);
  return done(storage::sync_directory(target));
}

}  // namespace weir::server
