#include "resp/numbers.h"
#include "server/rdb/integers.h"
#include "server/rdb/packed.h"

namespace weir::server::rdb {
namespace {

constexpr size_t kIntsetHeadBytes = 8;

bool is_width(uint64_t width) { return width == 2 || width == 4 || width == 8; }

}  // namespace

bool read_intset(std::string_view bytes, Value* value) {
  if (bytes.size() < kIntsetHeadBytes) return false;
  const uint64_t width = load_unsigned(bytes.substr(0, 4));
  const uint64_t elements = load_unsigned(bytes.substr(4, 4));
  if (!is_width(width) || bytes.size() - kIntsetHeadBytes != elements * width) return false;
  int64_t before = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    const int64_t number = load_signed(bytes.substr(kIntsetHeadBytes + i * width, width));
    if (i > 0 && number <= before) return false;
    before = number;
    value->texts.push_back(value->owned.emplace_back(std::to_string(number)));
  }
  return true;
}

std::string write_intset(const Value& value) {
  // The widest integers are at the ends.
  const int64_t first = resp::parse_int64(value.texts.front()).value_or(0);
  const int64_t last = resp::parse_int64(value.texts.back()).value_or(0);
  const auto both_fit = [&](size_t width) { return fits(first, width) && fits(last, width); };
  const size_t width = both_fit(2) ? 2 : both_fit(4) ? 4 : 8;
  std::string bytes;
  put_little_endian(&bytes, width, 4);
  put_little_endian(&bytes, value.texts.size(), 4);
  for (const std::string_view text : value.texts) {
    put_little_endian(&bytes, static_cast<uint64_t>(resp::parse_int64(text).value_or(0)), width);
  }
  return bytes;
}

}  // namespace weir::server::rdb
