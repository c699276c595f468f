// Zipmaps: what Redis kept small hashes in before version 2.6.
#include "server/rdb/integers.h"
#include "server/rdb/packed.h"

namespace weir::server::rdb {
namespace {

constexpr uint8_t kZipmapEnd = 0xff;
constexpr uint8_t kLong = 254;

// Takes bytes from the front; false if there are too few.
bool take_bytes(std::string_view* rest, uint64_t count, std::string_view* taken) {
  if (count > rest->size()) return false;
  *taken = rest->substr(0, count);
  rest->remove_prefix(count);
  return true;
}

bool take_length(std::string_view* rest, uint64_t* length) {
  std::string_view bytes;
  if (!take_bytes(rest, 1, &bytes) || static_cast<uint8_t>(bytes[0]) == kZipmapEnd) return false;
  if (static_cast<uint8_t>(bytes[0]) == kLong && !take_bytes(rest, 4, &bytes)) return false;
  *length = load_unsigned(bytes);
  return true;
}

bool take_pair(std::string_view* rest, Value* value) {
  uint64_t length = 0;
  std::string_view field, spare, text, unused;
  if (!take_length(rest, &length) || !take_bytes(rest, length, &field)) return false;
  if (!take_length(rest, &length) || !take_bytes(rest, 1, &spare)) return false;
  if (!take_bytes(rest, length, &text) || !take_bytes(rest, load_unsigned(spare), &unused))
    return false;
  value->texts.insert(value->texts.end(), {field, text});
  return true;
}

}  // namespace

bool read_zipmap(std::string_view bytes, Value* value) {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes.back()) != kZipmapEnd) return false;
  const auto announced = static_cast<uint8_t>(bytes[0]);
  std::string_view rest = bytes.substr(1, bytes.size() - 2);
  size_t found = 0;
  for (; !rest.empty(); ++found) {
    if (!take_pair(&rest, value)) return false;
  }
  return announced >= kLong || announced == found;
}

}  // namespace weir::server::rdb
