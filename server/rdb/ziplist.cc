// Ziplists: what Redis kept small collections in before version 7. An entry is the length of the
// one before it (a byte below 254, or 254 and u32), and one of
//
//     00llllll bytes, 01llllll llllllll bytes, 0x80 u32 (big-endian) bytes
//     0xc0 i16, 0xd0 i32, 0xe0 i64, 0xf0 i24, 0xfe i8      little-endian
//     0xf1 to 0xfd                                         0 to 12
#include <string>

#include "server/rdb/integers.h"
#include "server/rdb/packed.h"

namespace weir::server::rdb {
namespace {

constexpr size_t kZiplistHeadBytes = 10;
constexpr uint8_t kZiplistEnd = 0xff;
constexpr uint8_t kLongPrevious = 254;
constexpr size_t kZiplistUncounted = 0xffff;

size_t integer_width(uint8_t first) {
  switch (first) {
    case 0xc0:
      return 2;
    case 0xd0:
      return 4;
    case 0xe0:
      return 8;
    case 0xf0:
      return 3;
    case 0xfe:
      return 1;
    default:
      return 0;
  }
}

// Takes bytes from the front; false if there are too few.
bool take(std::string_view* rest, uint64_t count, std::string_view* taken) {
  if (count > rest->size()) return false;
  *taken = rest->substr(0, count);
  rest->remove_prefix(count);
  return true;
}

bool take_previous(std::string_view* rest, size_t expected) {
  std::string_view bytes;
  if (!take(rest, 1, &bytes)) return false;
  if (static_cast<uint8_t>(bytes[0]) == kLongPrevious && !take(rest, 4, &bytes)) return false;
  return load_unsigned(bytes) == expected;
}

bool take_text(std::string_view* rest, uint8_t first, Value* value) {
  std::string_view bytes;
  uint64_t length = first & 63;
  if (first >= 0x40) {
    const size_t more = first < 0x80 ? 1 : 4;
    if (first > 0x80 || !take(rest, more, &bytes)) return false;
    if (more == 4) length = 0;
    for (const char byte : bytes) length = length << 8 | static_cast<uint8_t>(byte);
  }
  if (!take(rest, length, &bytes)) return false;
  value->texts.push_back(bytes);
  return true;
}

bool take_integer(std::string_view* rest, uint8_t first, Value* value) {
  int64_t number = first - 0xf1;
  if (const size_t width = integer_width(first); width != 0) {
    std::string_view bytes;
    if (!take(rest, width, &bytes)) return false;
    number = load_signed(bytes);
  } else if (first < 0xf1 || first > 0xfd) {
    return false;
  }
  value->texts.push_back(value->owned.emplace_back(std::to_string(number)));
  return true;
}

bool take_entry(std::string_view* rest, size_t previous, Value* value) {
  std::string_view first;
  if (!take_previous(rest, previous) || !take(rest, 1, &first)) return false;
  const auto encoding = static_cast<uint8_t>(first[0]);
  return encoding < 0xc0 ? take_text(rest, encoding, value) : take_integer(rest, encoding, value);
}

}  // namespace

bool read_ziplist(std::string_view bytes, Value* value) {
  if (bytes.size() <= kZiplistHeadBytes || static_cast<uint8_t>(bytes.back()) != kZiplistEnd)
    return false;
  if (load_unsigned(bytes.substr(0, 4)) != bytes.size()) return false;
  const uint64_t last_at = load_unsigned(bytes.substr(4, 4));
  const size_t announced = load_unsigned(bytes.substr(8, 2));
  std::string_view rest = bytes.substr(kZiplistHeadBytes);
  rest.remove_suffix(1);
  size_t found = 0, begin = kZiplistHeadBytes, previous = 0;
  for (; !rest.empty(); ++found) {
    begin = bytes.size() - 1 - rest.size();
    if (!take_entry(&rest, previous, value)) return false;
    previous = bytes.size() - 1 - rest.size() - begin;
  }
  return last_at == begin && (announced == kZiplistUncounted || announced == found);
}

}  // namespace weir::server::rdb
