#include "storage/crc64.h"

#include <array>

#include "storage/codec.h"

namespace weir::storage {
namespace {

constexpr uint64_t kPolynomial = 0xc96c5795d7870f42;  // reflected
using Tables = std::array<std::array<uint64_t, 256>, 8>;

// Table k advances a byte over k more bytes of zeros, so that eight bytes take eight look-ups.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t table = 1; table < 8; ++table) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[table - 1][byte];
      tables[table][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint64_t crc64(std::string_view bytes, uint64_t crc) {
  crc = ~crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    crc ^= load_u64_le(bytes.data());
    uint64_t next = 0;
    for (size_t at = 0; at < 8; ++at) next ^= kTables[7 - at][crc >> 8 * at & 0xff];
    crc = next;
  }
  for (const char byte : bytes)
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

}  // namespace weir::storage
