// Little-endian integers of one to eight bytes, as all of Redis' compact forms have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::rdb {

// REQUIRES: bytes.size() <= 8.
inline uint64_t load_unsigned(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

// REQUIRES: 1 <= bytes.size() <= 8.
inline int64_t load_signed(std::string_view bytes) {
  const auto spare = static_cast<int>(64 - 8 * bytes.size());
  return static_cast<int64_t>(load_unsigned(bytes) << spare) >> spare;
}

inline void put_little_endian(std::string* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Tells whether a signed integer of so many bytes can hold the value.
inline bool fits(int64_t value, size_t bytes) {
  const auto spare = static_cast<int>(64 - 8 * bytes);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << spare) >> spare == value;
}

}  // namespace weir::server::rdb
