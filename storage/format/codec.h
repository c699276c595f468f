// The integers of every stored format: little-endian fixed width, LEB128 varints, and big-endian
// where bytes must sort as numbers do. DO NOT CHANGE: these bytes are on disk.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/varint.h"

namespace weir::storage {

static_assert(std::endian::native == std::endian::little,
              "the formats are written by copying little-endian integers");

inline void put_u8(std::string* out, uint8_t value) { out->push_back(static_cast<char>(value)); }

inline void put_u64_le(std::string* out, uint64_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline uint32_t load_u32_le(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
inline uint64_t load_u64_le(const char* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline void put_u32_be(std::string* out, uint32_t value) {
  value = __builtin_bswap32(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline uint32_t load_u32_be(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap32(value);
}

inline void put_u64_be(std::string* out, uint64_t value) {
  put_u64_le(out, __builtin_bswap64(value));
}
inline uint64_t load_u64_be(const char* bytes) { return __builtin_bswap64(load_u64_le(bytes)); }

inline void put_varint(std::string* out, uint64_t value) {
  char bytes[kVarintBytesMax];
  out->append(bytes, static_cast<size_t>(weir::put_varint(bytes, value) - bytes));
}

// Takes integers and byte strings off the front of a view. Any read past the end makes it fail for
// good; a failed reader answers zeros and empty strings, so a decoder checks ok() once at its end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  uint8_t u8() { return take(1) ? static_cast<uint8_t>(taken_[0]) : 0; }
  uint64_t u64_le() { return take(8) ? load_u64_le(taken_.data()) : 0; }

  uint64_t varint() {
    uint64_t value = 0;
    const char* const end = rest_.data() + rest_.size();
    const char* const stop = ok_ ? read_varint(rest_.data(), end, &value) : nullptr;
    if (stop == nullptr) return ok_ = false;
    rest_ = {stop, static_cast<size_t>(end - stop)};
    return value;
  }

  std::string_view bytes(uint64_t size) { return take(size) ? taken_ : std::string_view(); }
  std::string_view sized_bytes() { return bytes(varint()); }

 private:
  bool take(uint64_t size) {
    if (!ok_ || size > rest_.size()) return ok_ = false;
    taken_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  std::string_view taken_;
  bool ok_ = true;
};

}  // namespace weir::storage
