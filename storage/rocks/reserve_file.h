// A file that holds nothing but room on the disk. A server that dies with a full disk could not
// open its data again, because opening writes new files; it gives this file up then. A store that
// finds no room even so is opened read-only, and the server then is what it is after a failure of
// its disk.
//
// Invariant: the file is made only where several times as much is free, so that it never fills a
// disk by itself. So a file system that is small beside it has none.
#pragma once

#include <cstdint>
#include <string>

namespace weir::storage {

class ReserveFile {
 public:
  // 0 bytes: no such file, and one that is there is removed.
  ReserveFile(std::string path, uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  // Removes the file; false if there is none.
  bool give_up();
  // Makes the file if it is not there and there is room for it. A failure leaves none; it is tried
  // again with the next call.
  void keep();

 private:
  bool has_room() const;

  const std::string path_;
  const uint64_t bytes_;
};

}  // namespace weir::storage
