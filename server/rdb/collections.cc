#include "server/rdb/collections.h"

#include "base/string_hash.h"

namespace weir::server::rdb {

bool read_texts(Reader* reader, size_t each, Value* value) {
  const uint64_t size = reader->size();
  if (!reader->ok() || size > reader->left() / each) return false;
  value->texts.reserve(size * each);
  for (uint64_t i = 0; i < size * each && reader->ok(); ++i) {
    value->texts.push_back(reader->text());
  }
  return reader->ok();
}

bool has_twins(const Value& value, size_t step) {
  ViewSet seen;
  seen.reserve(value.texts.size() / step);
  for (size_t i = 0; i < value.texts.size(); i += step) {
    if (!seen.insert(value.texts[i]).second) return true;
  }
  return false;
}

void put_type(std::string* out, Type type) { out->push_back(static_cast<char>(type)); }

}  // namespace weir::server::rdb
