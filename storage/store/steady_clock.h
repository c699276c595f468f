// The one clock that storage/ reads: stores note by it when a sync began. No decision depends on
// it.
#pragma once

#include <cstdint>

namespace weir::storage {

int64_t steady_clock_ns();

}  // namespace weir::storage
