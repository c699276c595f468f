// Opening long lists of elements, slice by slice.
//
// A list that is not in memory is read when it is first asked for: a short one at once, of a long
// one no more than a slice. Then Keyspace::open_elements() answers null and failure() is such that
// still_opening() is true. Whoever runs the command takes it back and runs it again, in a later
// turn so that others come in between, or at once; each time the list is a slice further.
//
// Invariants
// 1. A list that is being opened stands among the open ones, so that nothing of it leaves memory
//    and whoever drops it finds it; but nobody gets it before it is whole.
// 2. Nothing changes such a list, so what is already read stays right; each slice looks at the
//    newest state, because a pass may have ended meanwhile.
// 3. The owner of a list that took several slices stays for kLongListKeptMs after its last use:
//    else a memory too small would open it for ever.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/status.h"

namespace weir::storage {

inline constexpr size_t kOpeningSliceElements = 1000;  // a few milliseconds
inline constexpr int64_t kLongListKeptMs = 1000;

Status not_open_yet();
bool still_opening(const Status& failure);

}  // namespace weir::storage
