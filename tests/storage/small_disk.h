// A file system of a few MB that is really full when it is full: a tmpfs where mounting is allowed
// (root, or a user namespace of our own), else nothing.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

#include "tests/storage/store_driver.h"

namespace weir::storage {

class SmallDisk {
 public:
  explicit SmallDisk(int megabytes) : path_(directory_ / "disk") {
    std::filesystem::create_directory(path_);
    const std::string options = "size=" + std::to_string(megabytes) + "m";
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }

  // Takes what room there is, up to the last `left` bytes.
  void fill(size_t left = 0) {
    const int file = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string page(4096, 'f');
    while (::write(file, page.data(), page.size()) > 0) {
    }
    if (left != 0) {
      const off_t size = ::lseek(file, 0, SEEK_END);
      EXPECT_EQ(::ftruncate(file, size - static_cast<off_t>(left)), 0);
    }
    ::close(file);
  }
  void make_room() { std::filesystem::remove(filler()); }

 private:
  std::string filler() const { return path_ + "/filler"; }

  TemporaryDirectory directory_;
  const std::string path_;
  bool mounted_ = false;
};

}  // namespace weir::storage
