// Lists: elements ranked by their places, numbers with gaps between them.
//
// A new element at an end is placed kPlaceStep beyond the last one; one between two others halves
// their gap. Where a gap is used up, the elements after it are moved apart: as few as have room for
// it, counted in powers of two, so that a longer row of them gets wider gaps. So the moves per
// insertion grow with the logarithm of the list's size, on average: 20,000 insertions at one spot
// move five elements each or, at worst, always directly after one element, nine each. A push moves
// no element until the places of an end are used up, 2^43 pushes later: then all are moved once.
//
// Invariants
// 1. No two elements have the same place, because a new place lies strictly between its
//    neighbours'.
// 2. A member only tells which element it is, and an element keeps it when it is moved. It is the
//    place of its birth if that was at an end, so that neighbours are side by side in memory and on
//    disk. Otherwise it is drawn, so that no client can make many at one spot.
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

// Pushes a value. The view must not point into this list.
void push(Collection* list, End end, std::string_view value);

// Takes an element from an end. REQUIRES: list->size() > 0.
std::string pop(Collection* list, End end);

// Puts a value before the element with this rank, or after all others with a rank of size(). The
// view must not point into this list. REQUIRES: list->exists().
void insert_at(Collection* list, size_t rank, std::string_view value);

// Answers the rank of an index, which counts from 0, or from the end with -1. Nothing if there is
// no such element.
std::optional<size_t> rank_of_index(const Collection& list, int64_t index);

// The elements from one index to another, both included, as far as the list goes.
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
