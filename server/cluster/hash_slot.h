// Hash slots as numbers that may be none: base/hash_slot.h says what they are.
#pragma once

#include <string_view>

#include "base/hash_slot.h"

namespace weir::server {

inline constexpr int kSlots = 16384;
inline constexpr int kNoSlot = -1;

// Answers a number in [0, kSlots).
inline int hash_slot(std::string_view key) { return weir::hash_slot(key); }

}  // namespace weir::server
