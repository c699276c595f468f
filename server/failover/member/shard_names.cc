#include "server/failover/member/shard_names.h"

#include <charconv>

namespace weir::server {

std::string hex_of_id(const std::array<char, 16>& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : id) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::array<char, 16> id_of_hex(std::string_view digits) {
  std::array<char, 16> id{};
  for (size_t i = 0; i < id.size(); ++i) {
    uint8_t byte = 0;
    const char* begin = digits.data() + 2 * i;
    std::from_chars(begin, begin + 2, byte, 16);
    id[i] = static_cast<char>(byte);
  }
  return id;
}

storage::ShardIdentity shard_of(const storage::replication::Genesis& genesis) {
  return {.cluster = hex_of_id(genesis.cluster),
          .name = genesis.shard_name,
          .databases = genesis.databases,
          .origin = genesis.origin};
}

}  // namespace weir::server
