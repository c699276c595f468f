// Varints (LEB128, as in DWARF): 7 bits in a byte, least significant first, the high bit set on all
// but the last; and zigzag, which makes small numbers of either sign small: 0, -1, 1, -2 ... are 0,
// 1, 2, 3. DO NOT CHANGE: these bytes are on disk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir {

inline constexpr size_t kVarintBytesMax = 10;

// Writes at most kVarintBytesMax bytes; answers their end.
inline char* put_varint(char* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

// Reads one varint of [at, end); answers where it ends. Null if the bytes run out, or if it is too
// large for 64 bits; a spelling longer than needed is accepted.
inline const char* read_varint(const char* at, const char* end, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at == end) return nullptr;
    const auto byte = static_cast<uint8_t>(*at++);
    if (shift == 63 && byte > 1) return nullptr;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

constexpr uint64_t to_zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t from_zigzag(uint64_t coded) {
  return static_cast<int64_t>(coded >> 1 ^ (~(coded & 1) + 1));
}

}  // namespace weir
