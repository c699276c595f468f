// The pieces of an RDB body, as Redis writes them without compression. DO NOT CHANGE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::rdb {

void put_size(std::string* out, uint64_t size);
// Writes a text. Integers of at most 32 bits, in their canonical spelling, take 2, 3 or 5 bytes.
void put_text(std::string* out, std::string_view text);
// Writes any bytes, as they are.
void put_bytes(std::string* out, std::string_view bytes);

}  // namespace weir::server::rdb
