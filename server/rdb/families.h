// The kinds of collections, each in a file of its own. Readers take what stands behind the type's
// byte, and leave the check that nothing is left over, and that there is something, to
// read_value().
#pragma once

#include <string>

#include "server/rdb/reader.h"
#include "server/rdb/value.h"

namespace weir::server::rdb {

[[nodiscard]] bool read_list(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_set(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_zset(Type type, Reader* reader, Value* value);
[[nodiscard]] bool read_hash(Type type, Reader* reader, Value* value);

// As many texts as a size in front of them says, `each` times. Takes a byte at least for each.
[[nodiscard]] bool read_texts(Reader* reader, size_t each, Value* value);
// Whether any two of the texts are the same; of those at even places where step is 2.
bool has_twins(const Value& value, size_t step);

void put_type(std::string* out, Type type);
// The type and its content.
void write_list(const Value& value, std::string* out);
void write_set(const Value& value, std::string* out);
void write_zset(const Value& value, std::string* out);
void write_hash(const Value& value, std::string* out);

}  // namespace weir::server::rdb
