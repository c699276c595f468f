// Lists: elements ranked by their places, numbers with gaps between them.
//
// A new element at an end stands kPlaceStep beyond the last one; one between two others halves
// their gap. Where a gap is used up, the elements behind it are moved apart: as few as have room
// for it, counted in powers of two, so that a longer row of them gets wider gaps. So the moves per
// insertion grow with the logarithm of the list's size, on average: 20,000 insertions at one spot
// cost a move each five times, or, at the worst, always directly behind one element, nine moves
// each. A push moves nobody until the places of an end are used up, 2^43 pushes later: then all are
// moved once.
//
// Invariants
// 1. No two elements have the same place.
// 2. A member says nothing but which element it is: it keeps it when it is moved. It is the place
//    of its birth if that was at an end, so that neighbours stand side by side in memory and on
//    disk; otherwise it is drawn, so that nobody can make many that stand in one spot.
// 3. Whatever the number of elements, Redis 7.0 calls the form quicklist: a list is always compact
//    here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/types/collection.h"

namespace weir::server {

inline constexpr uint64_t kPlaceStep = storage::kSequenceStep;
// On disk: DO NOT CHANGE.
inline constexpr size_t kListMemberBytes = 8;

enum class End { kLeft, kRight };

// The view is not of this list.
void push(Collection* list, End end, std::string_view value);

// Takes the element at an end out. REQUIRES: list->size() > 0.
std::string pop(Collection* list, End end);

// Puts a value in front of the element with this rank; behind all others with a rank of size().
// The view is not of this list. REQUIRES: list->exists().
void insert_at(Collection* list, size_t rank, std::string_view value);

// Indices count from 0, or from the end with -1. Nothing where there is no such element.
std::optional<size_t> rank_of_index(const Collection& list, int64_t index);

// What stands from one index to another, both included, as far as the list goes.
struct Stretch {
  size_t first = 0;
  size_t count = 0;
};
struct Indices {
  int64_t first;
  int64_t last;
};
Stretch stretch_of(const Collection& list, const Indices& indices);

}  // namespace weir::server
