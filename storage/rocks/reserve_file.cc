#include "storage/rocks/reserve_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "storage/format/file.h"

namespace weir::storage {
namespace {

constexpr uint64_t kRoomFactor = 4;

}  // namespace

bool ReserveFile::give_up() { return ::unlink(path_.c_str()) == 0; }

void ReserveFile::keep() {
  struct stat facts {};
  const bool there = ::stat(path_.c_str(), &facts) == 0;
  if (there && bytes_ != 0 && static_cast<uint64_t>(facts.st_size) == bytes_) return;
  if (there) give_up();
  if (bytes_ == 0 || !has_room()) return;
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.ok() && ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_)) != 0) give_up();
}

bool ReserveFile::has_room() const {
  struct statvfs facts {};
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  return ::statvfs(folder.c_str(), &facts) == 0 &&
         facts.f_bavail * facts.f_frsize / kRoomFactor >= bytes_;
}

}  // namespace weir::storage
