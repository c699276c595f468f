// The kinds of collections, each in a file of its own. A reader takes what follows the type's byte;
// read_value() checks that nothing is left over, and that there is something.
#pragma once

#include <string>

#include "server/rdb/reader.h"
#include "server/rdb/value.h"

namespace weir::server::rdb {

[[nodiscard]] bool read_list(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_set(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_zset(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_hash(Type type, Reader* reader, Value* value);

// Reads as many texts as the size before them says, `each` times. Each text takes at least a byte.
[[nodiscard]] bool read_texts(Reader* reader, size_t each, Value* value);
// Tells whether any two of the texts are the same; with a step of 2, of those at even places.
bool has_twins(const Value& value, size_t step);

void put_type(std::string* out, Type type);
// These write the type and its content.
void write_list(const Value& value, std::string* out);
void write_set(const Value& value, std::string* out);
void write_zset(const Value& value, std::string* out);
void write_hash(const Value& value, std::string* out);

}  // namespace weir::server::rdb
