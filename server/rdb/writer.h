// The pieces of an RDB body, as Redis writes them without compression. DO NOT CHANGE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::rdb {

void put_size(std::string* out, uint64_t size);
// Integers of 32 bits at most, in their canonical spelling, take 2, 3 or 5 bytes.
void put_text(std::string* out, std::string_view text);
// Any bytes, as they are.
void put_bytes(std::string* out, std::string_view bytes);

}  // namespace weir::server::rdb
