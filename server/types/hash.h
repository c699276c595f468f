// Hashes: fields in the order in which they were added, each with its value.
//
// Invariants
// 1. A field keeps its place when its value changes, and a new one comes after all others.
// 2. A hash is compact while it has never had more than kCompactFieldsMax fields, nor a field or a
//    value longer than kCompactFieldBytesMax: then Redis too replies in this order.
#pragma once

#include <string_view>

#include "server/types/collection.h"

namespace weir::server {

// Redis' hash-max-listpack-entries and hash-max-listpack-value.
inline constexpr size_t kCompactFieldsMax = 512;
inline constexpr size_t kCompactFieldBytesMax = 64;

// Puts a field; true if there was none. The views may point into this hash.
bool put_field(Collection* hash, std::string_view field, std::string_view value);

}  // namespace weir::server
