#include "server/rdb/writer.h"

#include "resp/numbers.h"
#include "server/rdb/integers.h"

namespace weir::server::rdb {
namespace {

constexpr size_t kInt32DigitsMax = 11;

void put_big_endian(std::string* out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

void put_size(std::string* out, uint64_t size) {
  if (size < 1 << 6) return put_big_endian(out, size, 1);
  if (size < 1 << 14) return put_big_endian(out, size | 1 << 14, 2);
  const bool is_long = size > UINT32_MAX;
  put_big_endian(out, is_long ? 0x81 : 0x80, 1);
  put_big_endian(out, size, is_long ? 8 : 4);
}

void put_bytes(std::string* out, std::string_view bytes) {
  put_size(out, bytes.size());
  out->append(bytes);
}

void put_text(std::string* out, std::string_view text) {
  const auto number = text.size() <= kInt32DigitsMax ? resp::parse_int64(text) : std::nullopt;
  if (!number || !fits(*number, 4)) return put_bytes(out, text);
  const int log2_bytes = fits(*number, 1) ? 0 : fits(*number, 2) ? 1 : 2;
  out->push_back(static_cast<char>(0xc0 + log2_bytes));
  put_little_endian(out, static_cast<uint64_t>(*number), size_t{1} << log2_bytes);
}

}  // namespace weir::server::rdb
