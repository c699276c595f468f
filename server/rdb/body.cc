#include "server/rdb/body.h"

#include "server/rdb/collections.h"
#include "server/rdb/writer.h"

namespace weir::server::rdb {
namespace {

bool read_string(Type, Reader* reader, Value* value) {
  value->texts.push_back(reader->text());
  return reader->ok();
}

using Read = bool (*)(Type type, Reader* reader, Value* value);

struct Form {
  Kind kind = Kind::kString;
  Read read = nullptr;
};

// Answers the form of a type; there is no reader for types that are not known.
Form form_of(Type type) {
  switch (type) {
    case Type::kString:
      return {Kind::kString, read_string};
    case Type::kList:
    case Type::kListZiplist:
    case Type::kListZiplists:
    case Type::kListNodes:
      return {Kind::kList, read_list};
    case Type::kSet:
    case Type::kSetIntset:
    case Type::kSetListpack:
      return {Kind::kSet, read_set};
    case Type::kZsetText:
    case Type::kZset:
    case Type::kZsetZiplist:
    case Type::kZsetListpack:
      return {Kind::kZset, read_zset};
    case Type::kHash:
    case Type::kHashZipmap:
    case Type::kHashZiplist:
    case Type::kHashListpack:
      return {Kind::kHash, read_hash};
    default:
      return {};
  }
}

bool is_stream(Type type) {
  return type == Type::kStream || type == Type::kStreamOfRedis70 || type == Type::kStreamOfRedis72;
}

}  // namespace

ReadError read_value(std::string_view body, Value* value) {
  if (body.empty()) return ReadError::kBroken;
  const auto type = static_cast<Type>(body[0]);
  if (is_stream(type)) return ReadError::kStream;
  if (type == Type::kModule || type == Type::kModuleOld) return ReadError::kModule;
  const Form form = form_of(type);
  if (form.read == nullptr) return ReadError::kBroken;
  value->kind = form.kind;
  Reader reader(body.substr(1), &value->owned);
  const bool whole = form.read(type, &reader, value) && reader.at_end() && !value->texts.empty();
  return whole ? ReadError::kNone : ReadError::kBroken;
}

void write_value(const Value& value, std::string* out) {
  switch (value.kind) {
    case Kind::kString:
      put_type(out, Type::kString);
      return put_text(out, value.texts[0]);
    case Kind::kList:
      return write_list(value, out);
    case Kind::kSet:
      return write_set(value, out);
    case Kind::kZset:
      return write_zset(value, out);
    case Kind::kHash:
      return write_hash(value, out);
  }
}

}  // namespace weir::server::rdb
