// How long memory takes: touches of a few places, far apart. Where the host of a virtual machine
// takes memory away or moves it, that is many times longer than usual, and so is what a program
// does with the same memory meanwhile.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <vector>

namespace weir::silence {

class MemoryProbe {
 public:
  // The memory is a process' own, as it is when this begins, and read by the system's
  // process_vm_readv; 0, or a process whose memory nobody may see: 128 MB of this one's.
  explicit MemoryProbe(pid_t watched);
  MemoryProbe(const MemoryProbe&) = delete;
  MemoryProbe& operator=(const MemoryProbe&) = delete;

  // Answers how long it took.
  int64_t touch_ns();

 private:
  void find_pages(pid_t watched);
  uint64_t draw();
  void touch_own();
  void touch_watched();

  const pid_t watched_;
  std::vector<uint64_t> pages_;  // addresses in the process
  std::vector<uint64_t> words_;  // or its own memory
  uint64_t place_ = 1;
};

}  // namespace weir::silence
