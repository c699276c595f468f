// One limit that a key has, with all that is kept of it: what its record has (low_water is since
// each booking and hold that the key still has), and what the running command knows of it.
//
// It must not know keys, nor what other limits the key has.
#pragma once

#include <cstdint>

#include "algorithms/limiter_record.h"
#include "algorithms/take_all.h"
#include "storage/format/element_key.h"

namespace weir::server {

struct HeldLimit : algorithms::LimitState {
  storage::ElementsId list = 0;  // the list of its entries; 0: none, or not made yet
  int64_t used_before = 0;       // with ADAPTIVE: permits, before the running command took any
  algorithms::Mode mode = algorithms::Mode::kEnforced;  // in what the running command has named
};

// Answers when nothing is lost by forgetting a limit. One that is not named any more can be
// forgotten when it is full, even if a new one would not be full: no request asks for it.
int64_t gone_at_ns(const HeldLimit& held, bool named, int64_t now_ns);

// Permits that are used now of a limit with ADAPTIVE.
int64_t used_permits(const HeldLimit& held, int64_t now_ns);

// Tells whether two tags are those of different policies.
inline bool is_another_policy(uint32_t a, uint32_t b) { return a != 0 && b != 0 && a != b; }

}  // namespace weir::server
