// Sets: members that are integers stand in numeric order, the others behind them.
//
// Invariant: a set is compact while all members it ever had were integers, and at most
// kCompactMembersMax at a time: Redis' intset, which replies in numeric order.
#pragma once

#include <string_view>

#include "server/types/collection.h"

namespace weir::server {

// Redis' set-max-intset-entries.
inline constexpr size_t kCompactMembersMax = 512;

// True if it was no member. The view may be of this set.
bool add_member(Collection* set, std::string_view member);

}  // namespace weir::server
