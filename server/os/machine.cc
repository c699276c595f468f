#include "server/os/machine.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace weir::server {
namespace {

struct Pages {
  int64_t all = 0;
  int64_t resident = 0;
  int64_t of_files = 0;  // of the resident ones
};

Pages pages() {
  Pages pages;
  std::ifstream("/proc/self/statm") >> pages.all >> pages.resident >> pages.of_files;
  return pages;
}

}  // namespace

ProcessMemory process_memory() {
  const struct mallinfo2 heap = mallinfo2();
  const Pages counted = pages();
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  ProcessMemory memory{.resident = counted.resident * page_bytes,
                       .files = counted.of_files * page_bytes,
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
