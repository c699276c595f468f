// What the members of one machine tell one another beside their log in a file: a folder with a
// small file for each of them. For development and tests, as the log itself (file_log.h).
//
//     file := put_at(u64 little-endian) bytes         `put_at` in nanoseconds of CLOCK_BOOTTIME,
//                                                     which is one clock for the whole machine
//
// A file is put in the place of the one before it, so it is read whole. What cannot be written or
// read is as good as not there: nothing depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/replication/shared_log.h"

namespace weir::storage {

class FileRegistry {
 public:
  // The folder is made by the first that puts something.
  explicit FileRegistry(std::string folder) : folder_(std::move(folder)) {}

  // REQUIRES: the name has letters and digits only.
  void put(const std::string& name, std::string_view bytes, int64_t boot_ns) const;
  // Files that are older than a day, or of before the machine's start, are removed.
  std::vector<replication::RegistryEntry> snapshot(int64_t boot_ns) const;

 private:
  const std::string folder_;
};

}  // namespace weir::storage
