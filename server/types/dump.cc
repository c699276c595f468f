#include "server/types/dump.h"

#include <algorithm>

#include "server/command/arguments.h"
#include "server/rdb/body.h"
#include "server/rdb/envelope.h"
#include "server/types/collection.h"
#include "server/types/dump_limiter.h"
#include "server/types/hash.h"
#include "server/types/list.h"
#include "server/types/set.h"
#include "server/types/zset.h"

namespace weir::server {
namespace {

using rdb::Kind;
using rdb::ReadError;
using storage::Element;
using storage::Type;

// Sent to clients: DO NOT CHANGE.
constexpr std::string_view kBadData = "ERR Bad data format";

Kind kind_of(Type type) {
  switch (type) {
    case Type::kHash:
      return Kind::kHash;
    case Type::kList:
      return Kind::kList;
    case Type::kSet:
      return Kind::kSet;
    case Type::kZset:
      return Kind::kZset;
    default:
      return Kind::kString;
  }
}

void add_element(const Element& element, rdb::Value* value) {
  switch (value->kind) {
    case Kind::kHash:
      value->texts.insert(value->texts.end(), {element.member, element.value});
      return;
    case Kind::kList:
      value->texts.push_back(element.value);
      return;
    case Kind::kZset:
      value->scores.push_back(score_of(element));
      [[fallthrough]];
    default:
      value->texts.push_back(element.member);
  }
}

// Appends a value in Redis' form.
Result<void, ErrorReplied> append_redis_value(Call& call, const storage::Ref& ref,
                                              std::string* body) {
  rdb::Value value;
  value.kind = kind_of(ref.type());
  if (value.kind == Kind::kString) {
    value.texts.push_back(ref.value());
  } else {
    const auto collection = collection_of(call, ref, ref.type());
    if (!collection) return collection.error();
    value.compact = collection->is_compact();
    value.texts.reserve(collection->size() * (value.kind == Kind::kHash ? 2 : 1));
    collection->walk([&value](const Element& element) {
      add_element(element, &value);
      return true;
    });
  }
  rdb::write_value(value, body);
  return {};
}

Type type_of(Kind kind) {
  constexpr Type kTypes[] = {Type::kString, Type::kList, Type::kSet, Type::kZset, Type::kHash};
  return kTypes[static_cast<size_t>(kind)];
}

bool is_large_zset(const rdb::Value& value) {
  const auto& texts = value.texts;
  return value.kind == Kind::kZset &&
         (texts.size() > kCompactZsetMembersMax ||
          std::any_of(texts.begin(), texts.end(), [](std::string_view member) {
            return member.size() > kCompactZsetMemberBytesMax;
          }));
}

void put_elements(const rdb::Value& value, Collection* target) {
  const auto& texts = value.texts;
  // Only a large set keeps the sign of each minus zero.
  if (is_large_zset(value)) target->make_large();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (value.kind == Kind::kList) push(target, End::kRight, texts[i]);
    if (value.kind == Kind::kSet) add_member(target, texts[i]);
    if (value.kind == Kind::kZset) put_score(target, texts[i], value.scores[i]);
    if (value.kind == Kind::kHash && i % 2 == 0) put_field(target, texts[i], texts[i + 1]);
  }
}

void put_redis_value(Call& call, std::string_view key, const rdb::Value& value,
                     int64_t expire_at_ms) {
  if (value.kind != Kind::kString) {
    Collection target = replace_with_collection(call, key, type_of(value.kind));
    call.work().charge_probes(value.texts.size());
    put_elements(value, &target);
    storage::Ref ref = call.look_up(key);
    if (expire_at_ms != 0) call.keys.set_expiry(&ref, expire_at_ms);
    return;
  }
  storage::Ref ref = call.look_up(key);
  call.keys.put(&ref, Type::kString, value.texts[0], expire_at_ms);
}

std::string_view error_line(ReadError error) {
  if (error == ReadError::kStream) return "ERR RESTORE of a stream is not supported";
  if (error == ReadError::kModule) return "ERR RESTORE of a module's value is not supported";
  return kBadData;
}

}  // namespace

Result<std::string, ErrorReplied> dump(Call& call, const storage::Ref& ref) {
  std::string bytes;
  const auto appended = storage::is_limiter(ref.type()) ? append_limiter(call, ref, &bytes)
                                                        : append_redis_value(call, ref, &bytes);
  if (!appended) return appended.error();
  rdb::seal(&bytes);
  return bytes;
}

Result<void, std::string> restore(Call& call, std::string_view payload, std::string_view key,
                                  int64_t expire_at_ms) {
  const auto body = rdb::open(payload);
  if (!body) return body.error();
  if (is_limiter_body(*body)) {
    if (!restore_limiter(call, *body, key, expire_at_ms)) return std::string(kBadData);
    return {};
  }
  rdb::Value value;
  const ReadError broken = rdb::read_value(*body, &value);
  if (broken != ReadError::kNone) return std::string(error_line(broken));
  put_redis_value(call, key, value, expire_at_ms);
  return {};
}

}  // namespace weir::server
