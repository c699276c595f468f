// Sets: members that are integers come first, in numeric order, then the others.
//
// Invariant: a set is compact while all members it ever had were integers, and at most
// kCompactMembersMax at a time. This is Redis' intset, which replies in numeric order.
#pragma once

#include <string_view>

#include "server/types/collection.h"

namespace weir::server {

// Redis' set-max-intset-entries.
inline constexpr size_t kCompactMembersMax = 512;

// Integers by their value, all others after them, by their bytes.
uint64_t order_of_member(std::string_view member);

// Adds a member; true if it was none. The view may point into this set.
bool add_member(Collection* set, std::string_view member);

}  // namespace weir::server
