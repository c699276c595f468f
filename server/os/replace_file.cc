#include "server/os/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "storage/format/file.h"

namespace weir::server {
namespace {

bool sync_folder(const std::filesystem::path& folder) {
  const char* path = folder.empty() ? "." : folder.c_str();
  const storage::Descriptor opened(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.ok() && ::fsync(opened.get()) == 0;
}

bool fill_like(int fd, const std::string& path, const std::string& text) {
  struct stat old = {};
  const bool has_old = ::lstat(path.c_str(), &old) == 0;
  if (!has_old && errno != ENOENT) return false;
  if (has_old && S_ISREG(old.st_mode) && ::fchmod(fd, old.st_mode & 07777) != 0) return false;
  return storage::write_and_sync(fd, text);
}

int replace_target(const std::string& path, const std::string& text) {
  std::string temporary = path + ".rewrite-XXXXXX";
  int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return errno;
  int failure = fill_like(fd, path, text) ? 0 : errno;
  if (::close(fd) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    return failure;
  }
  return sync_folder(std::filesystem::path(path).parent_path()) ? 0 : errno;
}

}  // namespace

int replace_file(const std::string& path, const std::string& text, Links links) {
  if (links == Links::kAreReplaced) return replace_target(path, text);
  std::error_code error;
  const std::string target = std::filesystem::weakly_canonical(path, error).string();
  return error ? error.value() : replace_target(target, text);
}

}  // namespace weir::server
