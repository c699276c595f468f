// Reads and writes the body of a dump: a value's type and content, as value.h has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/rdb/value.h"

namespace weir::server::rdb {

enum class ReadError : uint8_t { kNone, kBroken, kStream, kModule };

// Reads a whole body. A value that is read is not empty and has no twins, its scores are numbers,
// and its order is right where the form has one. `value` holds views of `body`, and is unspecified
// on error.
[[nodiscard]] ReadError read_value(std::string_view body, Value* value);

// Appends the body. A compact set's texts are integers, rising; a zset's members rise by score,
// then by their bytes. REQUIRES: at least one text.
void write_value(const Value& value, std::string* out);

}  // namespace weir::server::rdb
