// How limits of FIXED are written and what is checked of them; the head of fixed.cc has the design.
#pragma once

#include "algorithms/fixed.h"
#include "algorithms/grammar.h"

namespace weir::algorithms {

extern const Grammar fixed_grammar;

Result<void, RangeError> check_fixed(const Limit& limit);
// Tells whether options name a zone, which follows them on disk.
bool has_zone(const std::array<int64_t, 2>& options);
// Answers the calendar of a limit that has one. REQUIRES: ALIGN names a unit.
Calendar calendar_of(const Limit& limit);

}  // namespace weir::algorithms
