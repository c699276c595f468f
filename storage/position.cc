#include "storage/position.h"

namespace weir::storage {
namespace {

constexpr std::array<uint16_t, 256> make_crc16_table() {
  std::array<uint16_t, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    auto crc = static_cast<uint16_t>(byte << 8);
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<uint16_t>(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    table[static_cast<size_t>(byte)] = crc;
  }
  return table;
}

constexpr auto kCrc16 = make_crc16_table();

// kCrc16Ahead[k][b]: what byte b adds to the checksum when k more bytes follow it.
constexpr auto kCrc16Ahead = [] {
  std::array<std::array<uint16_t, 256>, 8> tables{};
  tables[0] = kCrc16;
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint16_t crc = tables[k - 1][byte];
      tables[k][byte] = static_cast<uint16_t>(crc << 8 ^ kCrc16[crc >> 8]);
    }
  }
  return tables;
}();

uint16_t crc16(std::string_view bytes) {
  uint16_t crc = 0;
  while (bytes.size() >= 8) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
    crc = static_cast<uint16_t>(
        kCrc16Ahead[7][at(0) ^ crc >> 8] ^ kCrc16Ahead[6][at(1) ^ (crc & 0xff)] ^
        kCrc16Ahead[5][at(2)] ^ kCrc16Ahead[4][at(3)] ^ kCrc16Ahead[3][at(4)] ^
        kCrc16Ahead[2][at(5)] ^ kCrc16Ahead[1][at(6)] ^ kCrc16Ahead[0][at(7)]);
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    crc = static_cast<uint16_t>(crc << 8 ^ kCrc16[(crc >> 8 ^ static_cast<uint8_t>(byte)) & 0xff]);
  }
  return crc;
}

std::string_view hash_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

uint16_t hash_slot(std::string_view key) { return crc16(hash_tag(key)) & (kSlots - 1); }

}  // namespace weir::storage
