// Listpacks. An entry is one of
//
//     0xxxxxxx                                  0 to 127
//     10llllll bytes                            text of up to 63 bytes
//     110xxxxx xxxxxxxx                         a signed integer of 13 bits, high ones first
//     1110llll llllllll bytes                   text of up to 4095 bytes
//     0xf0 u32 bytes                            text
//     0xf1 i16, 0xf2 i24, 0xf3 i32, 0xf4 i64    little-endian
//
// and after it comes its own length, to be read backwards: seven bits a byte, the first byte alone
// without the high bit.
#include "resp/numbers.h"
#include "server/rdb/integers.h"
#include "server/rdb/packed.h"

namespace weir::server::rdb {
namespace {

constexpr size_t kListpackHeadBytes = 6;
constexpr uint8_t kListpackEnd = 0xff;
constexpr size_t kListpackUncounted = 0xffff;
constexpr uint8_t kText32 = 0xf0, kInt16 = 0xf1, kInt24 = 0xf2, kInt32 = 0xf3, kInt64 = 0xf4;

// The bounds are Redis': two of them leave one value to the next size.
size_t backlen_bytes(size_t length) {
  if (length <= 127) return 1;
  if (length < 16'383) return 2;
  if (length < 2'097'151) return 3;
  return length < 268'435'455 ? 4 : 5;
}

void put_backlen(std::string* out, size_t length) {
  const size_t bytes = backlen_bytes(length);
  for (size_t i = bytes; i > 0; --i) {
    const auto group = static_cast<uint8_t>(length >> (7 * (i - 1)) & 127);
    out->push_back(static_cast<char>(i == bytes ? group : group | 128));
  }
}

// The head and the text, as lengths; or an integer, which was read already.
struct Entry {
  size_t head = 0;
  uint64_t text = 0;
  bool is_integer = false;
  int64_t number = 0;
};

Entry integer(int64_t number, size_t length) { return {length, 0, true, number}; }

// Reads an entry. Its head is 0 if the first byte means none, or if the head is cut off.
Entry entry_at(std::string_view rest) {
  const auto first = static_cast<uint8_t>(rest[0]);
  if (first < 0x80) return integer(first, 1);
  if (first < 0xc0) return {1, first & 63u, false, 0};
  if (rest.size() < 2) return {};
  const int pair = (first & 31) << 8 | static_cast<uint8_t>(rest[1]);
  if (first < 0xe0) return integer(pair < 1 << 12 ? pair : pair - (1 << 13), 2);
  if (first < 0xf0) return {2, static_cast<uint64_t>(pair & 0xfff), false, 0};
  const size_t width = first == kInt16                       ? 2
                       : first == kInt24                     ? 3
                       : first == kInt64                     ? 8
                       : first == kInt32 || first == kText32 ? 4
                                                             : 0;
  if (width == 0 || rest.size() < 1 + width) return {};
  const std::string_view bytes = rest.substr(1, width);
  if (first == kText32) return {1 + width, load_unsigned(bytes), false, 0};
  return integer(load_signed(bytes), 1 + width);
}

// Takes one entry off the front.
bool read_entry(std::string_view* rest, Value* value) {
  const Entry entry = entry_at(*rest);
  if (entry.head == 0 || entry.text > rest->size() - entry.head) return false;
  const size_t length = entry.head + entry.text;
  std::string backlen;
  put_backlen(&backlen, length);
  if (!rest->substr(length).starts_with(backlen)) return false;
  if (entry.is_integer) {
    value->texts.push_back(value->owned.emplace_back(std::to_string(entry.number)));
  } else {
    value->texts.push_back(rest->substr(entry.head, entry.text));
  }
  rest->remove_prefix(length + backlen.size());
  return true;
}

void put_integer(std::string* out, int64_t number) {
  if (number >= 0 && number <= 127) return out->push_back(static_cast<char>(number));
  if (number >= -4096 && number <= 4095) {
    out->push_back(static_cast<char>(0xc0 | (number >> 8 & 31)));
    return out->push_back(static_cast<char>(number));
  }
  const size_t width = fits(number, 2) ? 2 : fits(number, 3) ? 3 : fits(number, 4) ? 4 : 8;
  const uint8_t head = width == 2 ? kInt16 : width == 3 ? kInt24 : width == 4 ? kInt32 : kInt64;
  out->push_back(static_cast<char>(head));
  put_little_endian(out, static_cast<uint64_t>(number), width);
}

void put_string(std::string* out, std::string_view text) {
  if (text.size() < 1 << 6) {
    out->push_back(static_cast<char>(0x80 | text.size()));
  } else if (text.size() < 1 << 12) {
    out->push_back(static_cast<char>(0xe0 | text.size() >> 8));
    out->push_back(static_cast<char>(text.size()));
  } else {
    out->push_back(static_cast<char>(kText32));
    put_little_endian(out, text.size(), 4);
  }
  out->append(text);
}

}  // namespace

bool read_listpack(std::string_view bytes, Value* value) {
  if (bytes.size() <= kListpackHeadBytes || static_cast<uint8_t>(bytes.back()) != kListpackEnd)
    return false;
  if (load_unsigned(bytes.substr(0, 4)) != bytes.size()) return false;
  const size_t announced = load_unsigned(bytes.substr(4, 2));
  std::string_view rest = bytes.substr(kListpackHeadBytes);
  rest.remove_suffix(1);
  size_t found = 0;
  for (; !rest.empty(); ++found) {
    if (!read_entry(&rest, value)) return false;
  }
  return announced == kListpackUncounted || announced == found;
}

ListpackWriter::ListpackWriter() : bytes_(kListpackHeadBytes, '\0') {}

void ListpackWriter::add(std::string_view text) {
  const size_t begin = bytes_.size();
  if (const auto number = resp::parse_int64(text)) {
    put_integer(&bytes_, *number);
  } else {
    put_string(&bytes_, text);
  }
  put_backlen(&bytes_, bytes_.size() - begin);
  ++entries_;
}

std::string ListpackWriter::finish() {
  bytes_.push_back(static_cast<char>(kListpackEnd));
  std::string head;
  put_little_endian(&head, bytes_.size(), 4);
  put_little_endian(&head, entries_ < kListpackUncounted ? entries_ : kListpackUncounted, 2);
  bytes_.replace(0, kListpackHeadBytes, head);
  std::string finished = std::move(bytes_);
  bytes_.assign(kListpackHeadBytes, '\0');
  entries_ = 0;
  return finished;
}

}  // namespace weir::server::rdb
