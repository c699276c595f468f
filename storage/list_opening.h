// Opening long lists of elements, slice by slice.
//
// A list that is not in memory is read when it is first asked for: a short one at once, a long one
// a slice at a time. While slices are missing, Keyspace::open_elements() answers null and failure()
// is Status::not_yet(). The caller then rolls the command back and runs it again, at once or in a
// later turn so that other commands come in between; each time the list is one slice further.
//
// Invariants
// 1. A list that is being opened is already among the open lists, so that its entries stay in
//    memory and a command that drops it finds it; but open_elements() hands it out only when it is
//    whole.
// 2. Nothing changes such a list, because no command can get it, so what was read stays right. Each
//    slice reads the newest state, because a pass may have ended meanwhile.
// 3. The owner of a list that took several slices stays in memory for kLongListKeptMs after its
//    last use. Otherwise a working set too small for the list would open it for ever.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/status.h"

namespace weir::storage {

inline constexpr size_t kOpeningSliceElements = 1000;  // a few milliseconds
inline constexpr int64_t kLongListKeptMs = 1000;

}  // namespace weir::storage
