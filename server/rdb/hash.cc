#include "server/rdb/collections.h"
#include "server/rdb/packed.h"
#include "server/rdb/writer.h"

namespace weir::server::rdb {
namespace {

bool read_packed(Type type, std::string_view packed, Value* value) {
  if (type == Type::kHashZipmap) return read_zipmap(packed, value);
  if (type == Type::kHashZiplist) return read_ziplist(packed, value);
  return read_listpack(packed, value);
}

}  // namespace

bool read_hash(Type type, Reader* reader, Value* value) {
  if (type == Type::kHash) return read_texts(reader, 2, value) && !has_twins(*value, 2);
  const std::string_view packed = reader->text();
  if (!reader->ok() || !read_packed(type, packed, value)) return false;
  return value->texts.size() % 2 == 0 && !has_twins(*value, 2);
}

void write_hash(const Value& value, std::string* out) {
  if (value.compact) {
    ListpackWriter packed;
    for (const std::string_view text : value.texts) packed.add(text);
    put_type(out, Type::kHashListpack);
    return put_bytes(out, packed.finish());
  }
  put_type(out, Type::kHash);
  put_size(out, value.texts.size() / 2);
  for (const std::string_view text : value.texts) put_text(out, text);
}

}  // namespace weir::server::rdb
