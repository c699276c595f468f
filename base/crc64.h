// The two CRC-64 that weir writes, bits mirrored, eight bytes at a step. DO NOT CHANGE: the sums
// are on disk and on the wire. Boost's takes a byte at a step, which DUMP and RESTORE of a large
// value would spend in the loop; tests compare the two.
//
// Sources: of the steps "slicing by 8" (M. Kounavis, F. Berry, A Systematic Approach to Building
// High Performance Software-Based CRC Generators, 2005); of each polynomial below.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir {

// kPolynomial: mirrored. kMask: what the sum is XORed with at the beginning and at the end.
template <uint64_t kPolynomial, uint64_t kMask>
class Crc64 {
 public:
  // Goes on from `sum`, that of the bytes before these.
  static uint64_t sum(std::string_view bytes, uint64_t sum) {
    sum ^= kMask;
    for (; bytes.size() >= kStep; bytes.remove_prefix(kStep)) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), kStep);
      word ^= sum;
      sum = 0;
      for (size_t at = 0; at < kStep; ++at) sum ^= kTables[kStep - 1 - at][word >> 8 * at & 0xff];
    }
    for (const char byte : bytes) sum = sum >> 8 ^ kTables[0][(sum ^ uint8_t(byte)) & 0xff];
    return sum ^ kMask;
  }

 private:
  static_assert(std::endian::native == std::endian::little);

  static constexpr size_t kStep = 8;
  using Tables = std::array<std::array<uint64_t, 256>, kStep>;

  // kTables[n][byte]: what a byte adds to the sum when n more bytes follow it.
  static constexpr Tables kTables = [] {
    Tables tables{};
    for (uint64_t byte = 0; byte < 256; ++byte) {
      uint64_t sum = byte;
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? kPolynomial : 0);
      tables[0][byte] = sum;
    }
    for (size_t table = 1; table < kStep; ++table) {
      for (size_t byte = 0; byte < 256; ++byte) {
        const uint64_t before = tables[table - 1][byte];
        tables[table][byte] = before >> 8 ^ tables[0][before & 0xff];
      }
    }
    return tables;
  }();
};

// CRC-64/XZ (the polynomial of ECMA-182, as in .xz files), which identifies a record of the shared
// log (storage/replication/FORMAT.md).
inline uint64_t crc64_xz(std::string_view bytes, uint64_t sum = 0) {
  return Crc64<0xc96c5795d7870f42, UINT64_MAX>::sum(bytes, sum);
}

// Redis' CRC-64 (Jones' polynomial), at the end of what DUMP and FUNCTION DUMP answer.
inline uint64_t crc64_redis(std::string_view bytes) {
  return Crc64<0x95ac9329ac4bc9b5, 0>::sum(bytes, 0);
}

}  // namespace weir
