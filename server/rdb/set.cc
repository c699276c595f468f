#include "server/rdb/collections.h"
#include "server/rdb/packed.h"
#include "server/rdb/writer.h"

namespace weir::server::rdb {

bool read_set(Type type, Reader* reader, Value* value) {
  if (type == Type::kSet) return read_texts(reader, 1, value) && !has_twins(*value, 1);
  const std::string_view packed = reader->text();
  if (!reader->ok()) return false;
  if (type == Type::kSetIntset) return read_intset(packed, value);
  return read_listpack(packed, value) && !has_twins(*value, 1);
}

void write_set(const Value& value, std::string* out) {
  if (value.compact) {
    put_type(out, Type::kSetIntset);
    return put_bytes(out, write_intset(value));
  }
  put_type(out, Type::kSet);
  put_size(out, value.texts.size());
  for (const std::string_view member : value.texts) put_text(out, member);
}

}  // namespace weir::server::rdb
