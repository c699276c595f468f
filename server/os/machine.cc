#include "server/os/machine.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace weir::server {
namespace {

int64_t resident_bytes() {
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

int64_t machine_memory_bytes() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0)
    bytes = std::min(bytes, limit);
  return bytes;
}

ProcessMemory process_memory() {
  const struct mallinfo2 heap = mallinfo2();
  ProcessMemory memory{.resident = resident_bytes(),
                       .heap_allocated = static_cast<int64_t>(heap.uordblks + heap.hblkhd),
                       .heap_active = static_cast<int64_t>(heap.arena + heap.hblkhd)};
  memory.heap_resident = std::min(memory.heap_active, memory.resident);
  return memory;
}

int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace weir::server
