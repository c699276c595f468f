// The hash of every table whose keys come from clients: SipHash-1-3 under a key that the process
// draws at its start, so that no client can choose keys that fall into one bucket.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/siphash.h"

namespace weir {

// Draws from the system's randomness.
SipKey draw_hash_key();
// The key of all tables, in whose order of buckets they are walked. A program that repeats a run
// (a simulation, a fuzz target) sets it before the first table is made; nobody else does.
inline SipKey process_hash_key = draw_hash_key();

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return siphash<1, 3>(text, process_hash_key); }
};

// Look-ups take a std::string_view.
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;
// Of views: the bytes live elsewhere.
template <typename Value>
using ViewMap = std::unordered_map<std::string_view, Value, StringHash>;
using ViewSet = std::unordered_set<std::string_view, StringHash>;

}  // namespace weir
