#include "server/os/heap.h"

#include <malloc.h>

namespace weir::server {

void prepare_heap() {
#ifdef __GLIBC__
  constexpr int kAskedAhead = 16 << 20;   // bytes
  constexpr int kKeptFree = 64 << 20;     // bytes, at the end of the heap
  constexpr int kMappedApart = 32 << 20;  // bytes; the most that glibc takes
  ::mallopt(M_TOP_PAD, kAskedAhead);
  ::mallopt(M_TRIM_THRESHOLD, kKeptFree);
  ::mallopt(M_MMAP_THRESHOLD, kMappedApart);
#endif
}

}  // namespace weir::server
