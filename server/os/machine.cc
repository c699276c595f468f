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
