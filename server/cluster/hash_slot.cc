#include "server/cluster/hash_slot.h"

#include <array>

namespace weir::server {
namespace {

constexpr uint16_t kPolynomial = 0x1021;

constexpr size_t kStep = 8;

constexpr uint8_t byte_of(char c) { return static_cast<uint8_t>(c); }

using Tables = std::array<std::array<uint16_t, 256>, kStep>;

// kTables[n][byte]: what a byte adds to the sum when n more bytes follow it. Eight bytes at a step
// take a third of the time that they take one by one.
constexpr Tables kTables = [] {
  Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned sum = byte << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000) != 0 ? sum << 1 ^ kPolynomial : sum << 1;
    tables[0][byte] = static_cast<uint16_t>(sum);
  }
  for (size_t table = 1; table < kStep; ++table) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint16_t before = tables[table - 1][byte];
      tables[table][byte] = static_cast<uint16_t>(before << 8 ^ tables[0][before >> 8]);
    }
  }
  return tables;
}();

}  // namespace

uint16_t crc16_xmodem(std::string_view bytes) {
  uint16_t sum = 0;
  for (; bytes.size() >= kStep; bytes.remove_prefix(kStep)) {
    const auto first = static_cast<uint8_t>(sum >> 8 ^ byte_of(bytes[0]));
    const auto second = static_cast<uint8_t>((sum & 0xff) ^ byte_of(bytes[1]));
    sum = kTables[kStep - 1][first] ^ kTables[kStep - 2][second];
    for (size_t at = 2; at < kStep; ++at) sum ^= kTables[kStep - 1 - at][byte_of(bytes[at])];
  }
  for (const char byte : bytes) {
    const auto index = static_cast<uint8_t>(sum >> 8 ^ byte_of(byte));
    sum = static_cast<uint16_t>(sum << 8 ^ kTables[0][index]);
  }
  return sum;
}

std::string_view hashed_part(std::string_view key) {
  const size_t open = key.find('{');
  if (open == key.npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace weir::server
