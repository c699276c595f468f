#include "storage/store/steady_clock.h"

#include <chrono>

namespace weir::storage {

int64_t steady_clock_ns() {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(now).count();
}

}  // namespace weir::storage
