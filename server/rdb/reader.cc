#include "server/rdb/reader.h"

#include "server/rdb/integers.h"
#include "server/rdb/lzf.h"

namespace weir::server::rdb {
namespace {

constexpr uint8_t kSpecial = 3;  // the two leading bits of something that is no size
constexpr uint8_t kInt8 = 0xc0, kEncodedInt16 = 0xc1, kEncodedInt32 = 0xc2, kCompressed = 0xc3;

}  // namespace

std::string_view Reader::bytes(uint64_t count) {
  ok_ = ok_ && count <= rest_.size();
  if (!ok_) return {};
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

uint8_t Reader::byte() {
  const std::string_view taken = bytes(1);
  return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
}

uint64_t Reader::big_endian(int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | byte();
  return ok_ ? value : 0;
}

uint64_t Reader::size() { return size_behind(byte()); }

uint64_t Reader::size_behind(uint8_t first) {
  if (first >> 6 == 0) return first;
  if (first >> 6 == 1) {
    const uint64_t low = byte();
    return ok_ ? static_cast<uint64_t>(first & 63) << 8 | low : 0;
  }
  if (first == 0x80) return big_endian(4);
  if (first == 0x81) return big_endian(8);
  ok_ = false;
  return 0;
}

std::string_view Reader::text() {
  const uint8_t first = byte();
  if (first >> 6 != kSpecial) return bytes(size_behind(first));
  switch (first) {
    case kInt8:
      return integer(1);
    case kEncodedInt16:
      return integer(2);
    case kEncodedInt32:
      return integer(4);
    case kCompressed:
      return unpacked();
    default:
      ok_ = false;
      return {};
  }
}

std::string_view Reader::integer(size_t count) {
  const std::string_view taken = bytes(count);
  if (!ok_) return {};
  return owned_.emplace_back(std::to_string(load_signed(taken)));
}

std::string_view Reader::unpacked() {
  const uint64_t packed_size = size();
  const uint64_t text_size = size();
  const std::string_view packed = bytes(packed_size);
  ok_ = ok_ && text_size <= unpacked_left_ && lzf_may_unpack_to(packed_size, text_size);
  if (!ok_) return {};
  unpacked_left_ -= text_size;
  std::string& text = owned_.emplace_back();
  ok_ = lzf_unpack(packed, text_size, &text);
  return ok_ ? text : std::string_view();
}

}  // namespace weir::server::rdb
