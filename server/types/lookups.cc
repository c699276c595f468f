#include "server/types/lookups.h"

#include "server/command/arguments.h"

namespace weir::server {

storage::Ref read_key(Call& call, std::string_view key) {
  const storage::Ref ref = call.look_up(key);
  call.host.count_look_up(ref.exists());
  if (!ref.exists()) call.notify(EventClass::kMiss, "keymiss", key);
  return ref;
}

Result<void, ErrorReplied> check_string_or_absent(Call& call, const storage::Ref& ref) {
  if (!ref.exists() || ref.type() == storage::Type::kString) return {};
  return reply_error(call, kWrongType);
}

std::string_view type_name(storage::Type type) {
  switch (type) {
    case storage::Type::kString:
      return "string";
    case storage::Type::kLimiter:
    case storage::Type::kLimiterEntries:
    case storage::Type::kLimiterCharges:
      return "limiter";
    case storage::Type::kHash:
      return "hash";
    case storage::Type::kList:
      return "list";
    case storage::Type::kSet:
      return "set";
    case storage::Type::kZset:
      return "zset";
    case storage::Type::kNone:
    case storage::Type::kSystem:
    case storage::Type::kElement:
      break;
  }
  return "none";
}

}  // namespace weir::server
