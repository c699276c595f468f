#include "server/limiter/remembered.h"

#include "server/limiter/limiters.h"
#include "storage/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kNull2 = "$-1\r\n";
constexpr std::string_view kNull3 = "_\r\n";

std::string record_key(const Call& call, std::string_view key, std::string_view token) {
  std::string name;
  storage::put_varint(&name, static_cast<uint64_t>(call.database));
  storage::put_varint(&name, key.size());
  return name.append(key).append(token);
}

// The digest does not depend on how the command's name is spelt.
uint64_t digest(const Call& call) {
  std::string bytes(call.command.name);
  for (const std::string_view arg : call.args.subspan(1)) {
    storage::put_varint(&bytes, arg.size());
    bytes.append(arg);
  }
  return storage::siphash24(bytes, {0x7765697200000001, 0x7769746820494400});
}

std::string with_nulls(std::string_view reply, std::string_view from, std::string_view to) {
  std::string changed;
  for (size_t at = 0; at < reply.size();) {
    const size_t end = reply.find('\n', at) + 1;
    const std::string_view line = reply.substr(at, end - at);
    changed += line == from ? to : line;
    at = end;
  }
  return changed;
}

}  // namespace

bool recalled(Call& call, std::string_view key, std::string_view token) {
  if (token.empty()) return false;
  const std::string name = record_key(call, key, token);
  const storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  if (!ref.exists()) return false;
  storage::Reader reader(ref.value());
  if (reader.u64_le() != digest(call)) {
    call.reply.error("ERR ID was used with other arguments");
    return true;
  }
  ++call.limiters.verdicts.repeated;
  const std::string_view reply = reader.rest();
  call.reply.raw(call.reply.protocol() == 3 ? with_nulls(reply, kNull2, kNull3)
                                            : std::string(reply));
  return true;
}

void remember(Call& call, std::string_view key, std::string_view token, size_t reply_begin) {
  std::string value;
  storage::put_u64_le(&value, digest(call));
  const std::string_view reply = std::string_view(*call.reply.buffer()).substr(reply_begin);
  value += call.reply.protocol() == 3 ? with_nulls(reply, kNull3, kNull2) : std::string(reply);
  const std::string name = record_key(call, key, token);
  storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  call.keys.put(&ref, storage::Type::kString, value, call.now_ms() + kRememberedMs);
}

}  // namespace weir::server
