// A clock that stands still until somebody moves it: nanoseconds since the epoch, the first eight
// bytes of the file that CLOCK_FILE names, which whoever moves it has mapped as well.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace weir::clock_file {

// Ends the process where there is no such file: a test must not go by another clock unnoticed.
inline const std::atomic<int64_t>* open_clock() {
  const char* path = std::getenv("CLOCK_FILE");
  const int file = path == nullptr ? -1 : open(path, O_RDONLY);
  void* place = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) std::abort();
  close(file);
  return static_cast<const std::atomic<int64_t>*>(place);
}

inline int64_t now_ns() {
  static const std::atomic<int64_t>* const clock = open_clock();
  return clock->load();
}

}  // namespace weir::clock_file
