// Bounded cursors over the bytes a limiter is stored as.
//
// They must not allocate, and never touch a byte outside the range they were given: a Writer that
// is out of room and a Reader that is out of bytes remember it and do nothing from then on.
//
// DO NOT CHANGE the encodings; they are on disk. fixed64: 8 bytes, little-endian. varint, zigzag:
// base/varint.h. text: its size as a varint, its bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/varint.h"

namespace weir::algorithms {

class Writer {
 public:
  Writer(char* begin, size_t size) : begin_(begin), at_(begin), end_(begin + size) {}

  void byte(uint8_t value) {
    if (at_ == end_) return fail();
    *at_++ = static_cast<char>(value);
  }
  void fixed64(uint64_t value) {
    if (end_ - at_ < 8) return fail();
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
    std::memcpy(at_, &value, 8);
    at_ += 8;
  }
  void varint(uint64_t value) {
    if (static_cast<size_t>(end_ - at_) >= kVarintBytesMax) {
      at_ = put_varint(at_, value);
      return;
    }
    char bytes[kVarintBytesMax];
    const auto size = static_cast<size_t>(put_varint(bytes, value) - bytes);
    if (static_cast<size_t>(end_ - at_) < size) return fail();
    std::memcpy(at_, bytes, size);
    at_ += size;
  }
  void zigzag(int64_t value) { varint(to_zigzag(value)); }
  // Writes a text with its size before it.
  void text(std::string_view value) {
    varint(value.size());
    if (static_cast<size_t>(end_ - at_) < value.size()) return fail();
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }

  bool ok() const { return ok_; }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }

 private:
  void fail() {
    ok_ = false;
    at_ = end_;
  }

  char* begin_;
  char* at_;
  char* end_;
  bool ok_ = true;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Answers 0 once the bytes have run out or made no sense; ask ok() before using what was read.
  uint8_t byte() {
    if (at_ == end_) return fail();
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t fixed64() {
    if (end_ - at_ < 8) return fail();
    uint64_t value = 0;
    std::memcpy(&value, at_, 8);
    at_ += 8;
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    const char* const stop = read_varint(at_, end_, &value);
    if (stop == nullptr) return fail();
    at_ = stop;
    return value;
  }
  int64_t zigzag() { return from_zigzag(varint()); }
  std::string_view text() {
    const uint64_t size = varint();
    if (size > left()) fail();
    if (!ok_) return {};
    const std::string_view value(at_, static_cast<size_t>(size));
    at_ += size;
    return value;
  }

  bool ok() const { return ok_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

 private:
  uint8_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace weir::algorithms
