// Takes the pieces of an RDB body off its front.
//
// Invariants
// 1. Memory is taken only for what the bytes at hand can mean, and at most kUnpackedBytesMax for
//    compressed texts.
// 2. Once a piece is missing, ok() is false for good, and all answers are empty.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace weir::server::rdb {

// The most bytes of all unpacked texts of one payload: as long as Redis' longest string.
inline constexpr uint64_t kUnpackedBytesMax = 512 << 20;

class Reader {
 public:
  // `owned` takes the texts that are not in `bytes` literally.
  Reader(std::string_view bytes, std::deque<std::string>* owned) : rest_(bytes), owned_(*owned) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

  std::string_view bytes(uint64_t count);
  uint8_t byte();
  uint64_t size();
  std::string_view text();

 private:
  uint64_t big_endian(int count);
  uint64_t size_behind(uint8_t first);
  std::string_view integer(size_t count);
  std::string_view unpacked();

  std::string_view rest_;
  std::deque<std::string>& owned_;
  uint64_t unpacked_left_ = kUnpackedBytesMax;
  bool ok_ = true;
};

}  // namespace weir::server::rdb
