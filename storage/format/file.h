// The few file operations that the store does itself. Errors name the path and the system's reason.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "storage/format/status.h"

namespace weir::storage {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();

  bool ok() const { return value_ >= 0; }
  int get() const { return value_; }

 private:
  int value_;
};

// Makes the status of a failed system call: "<what> <path>: <the reason in errno>". ELOOP is told
// as a link that open_own_file() refuses.
Status system_failure(std::string_view what, const std::string& path);

// Opens a file of a data directory to be written, and makes it if it is not there. A symbolic link
// in its place is followed nowhere: whoever may write to the directory chooses no other file.
// kAreRefused: errno is ELOOP. kAreReplaced: a file of its own takes the link's place.
enum class LinksThere { kAreRefused, kAreReplaced };
Descriptor open_own_file(const std::string& path, int flags, mode_t mode,
                         LinksThere links = LinksThere::kAreRefused);

// Writes all bytes at the place where the descriptor stands, and syncs the file. False: errno says
// why not.
bool write_and_sync(int descriptor, std::string_view bytes);

bool file_exists(const std::string& path);
Status read_file(const std::string& path, std::string* bytes);
// Writes a file of a data directory, by open_own_file(), and syncs it; the directory entry is not
// synced.
Status write_file(const std::string& path, std::string_view bytes);
Status rename_file(const std::string& from, const std::string& to);
Status sync_directory(const std::string& path);
// Makes a directory and its parents, and syncs them.
Status make_directory(const std::string& path);
// Removes a directory with all that is in it. It is fine if there is none.
Status remove_tree(const std::string& path);
// Syncs every file and folder in a directory, and the directory itself.
Status sync_tree(const std::string& path);

}  // namespace weir::storage
