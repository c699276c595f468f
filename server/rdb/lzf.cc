#include "server/rdb/lzf.h"

namespace weir::server::rdb {
namespace {

constexpr uint8_t kPlainBelow = 32;
constexpr size_t kLongLength = 7;  // a byte more of it follows

// Takes bytes from the front, and answers zero when nothing is left.
struct Packed {
  std::string_view rest;
  bool whole = true;

  std::string_view bytes(size_t count) {
    whole = whole && count <= rest.size();
    if (!whole) return {};
    const std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }
  uint8_t byte() {
    const std::string_view taken = bytes(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
};

bool repeat(Packed* packed, uint8_t head, size_t size, std::string* out) {
  size_t length = head >> 5;
  if (length == kLongLength) length += packed->byte();
  length += 2;
  const size_t back = (static_cast<size_t>(head & 31) << 8 | packed->byte()) + 1;
  if (!packed->whole || back > out->size() || length > size - out->size()) return false;
  for (size_t from = out->size() - back; length > 0; --length) out->push_back((*out)[from++]);
  return true;
}

}  // namespace

bool lzf_unpack(std::string_view bytes, size_t size, std::string* out) {
  out->clear();
  out->reserve(size);
  Packed packed = {bytes};
  while (packed.whole && !packed.rest.empty()) {
    const uint8_t head = packed.byte();
    if (head >= kPlainBelow) {
      if (!repeat(&packed, head, size, out)) return false;
      continue;
    }
    out->append(packed.bytes(head + size_t{1}));
    if (out->size() > size) return false;
  }
  return packed.whole && out->size() == size;
}

}  // namespace weir::server::rdb
