#include "server/lookups.h"

#include "server/arguments.h"
#include "server/server.h"

namespace weir::server {

storage::Ref read_key(Call& call, std::string_view key) {
  const storage::Ref ref = call.look_up(key);
  ++(ref.exists() ? call.server.stats.keyspace_hits : call.server.stats.keyspace_misses);
  return ref;
}

bool is_string_or_absent(Call& call, const storage::Ref& ref) {
  if (!ref.exists() || ref.type() == storage::Type::kString) return true;
  call.reply.error(kWrongType);
  return false;
}

std::string_view type_name(storage::Type type) {
  switch (type) {
    case storage::Type::kString:
      return "string";
    case storage::Type::kLimiter:
      return "limiter";
    case storage::Type::kNone:
    case storage::Type::kSystem:
      break;
  }
  return "none";
}

}  // namespace weir::server
