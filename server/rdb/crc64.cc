#include "server/rdb/crc64.h"

#include <array>
#include <bit>
#include <cstring>

namespace weir::server::rdb {
namespace {

constexpr size_t kLanes = 8;
using Table = std::array<uint64_t, 256>;

// kTables[n][byte]: what a byte adds to the sum when n more bytes follow it.
constexpr std::array<Table, kLanes> kTables = [] {
  std::array<Table, kLanes> tables = {};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x95ac9329ac4bc9b5 : 0);
    tables[0][byte] = crc;
  }
  for (size_t lane = 1; lane < kLanes; ++lane) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[lane - 1][byte];
      tables[lane][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

static_assert(std::endian::native == std::endian::little);

uint64_t eight_bytes(uint64_t crc, const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  word ^= crc;
  crc = 0;
  for (size_t at = 0; at < kLanes; ++at) {
    crc ^= kTables[kLanes - 1 - at][word >> (8 * at) & 0xff];
  }
  return crc;
}

}  // namespace

uint64_t crc64(std::string_view bytes) {
  uint64_t crc = 0;
  for (; bytes.size() >= kLanes; bytes.remove_prefix(kLanes)) crc = eight_bytes(crc, bytes.data());
  for (const char byte : bytes) {
    crc = kTables[0][static_cast<uint8_t>(crc ^ static_cast<uint8_t>(byte))] ^ crc >> 8;
  }
  return crc;
}

}  // namespace weir::server::rdb
