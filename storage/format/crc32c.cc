#include "storage/format/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace weir::storage {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

constexpr auto kTable = make_table();

uint32_t extend_by_table(uint32_t crc, std::string_view bytes) {
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t extend_by_instruction(uint32_t crc,
                                                                 std::string_view bytes) {
  uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    wide = _mm_crc32_u64(wide, word);
  }
  return extend_by_table(static_cast<uint32_t>(wide), bytes);
}

uint32_t extend(uint32_t crc, std::string_view bytes) {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  return has_instruction ? extend_by_instruction(crc, bytes) : extend_by_table(crc, bytes);
}
#else
uint32_t extend(uint32_t crc, std::string_view bytes) { return extend_by_table(crc, bytes); }
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t crc) { return ~extend(~crc, bytes); }

}  // namespace weir::storage
