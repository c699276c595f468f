#include "resp/plain_request.h"

#include <cstdint>

namespace weir::resp {
namespace {

constexpr int64_t kPlainHeaderBytesMax = 16;

// A header line as clients write it, "<type><one to ten digits>\r\n", at the front of `bytes`:
// steps over it and returns its number. Returns -1 for anything that needs the general way, be it
// incomplete, unusual or wrong.
inline int64_t take_plain_header(std::string_view* bytes, char type) {
  constexpr size_t kDigitsMax = 10;
  const char* const p = bytes->data();
  const size_t size = bytes->size();
  if (size < 4 || p[0] != type) return -1;
  const unsigned first = static_cast<unsigned char>(p[1]) - unsigned{'0'};
  if (first <= 9 && p[2] == '\r') {  // most are so short
    bytes->remove_prefix(4);
    return first;
  }
  int64_t number = 0;
  size_t i = 1;
  for (; i <= kDigitsMax && i < size; ++i) {
    const unsigned digit = static_cast<unsigned char>(p[i]) - unsigned{'0'};
    if (digit > 9) break;
    number = number * 10 + digit;
  }
  const bool canonical = i > 1 && (p[1] != '0' || i == 2);
  if (!canonical || i + 1 >= size || p[i] != '\r') return -1;
  bytes->remove_prefix(i + 2);
  return number;
}

}  // namespace

PlainRequest take_plain_request(std::string_view input, const RequestLimits& limits,
                                std::vector<std::string_view>* args) {
  if (!limits.authenticated || limits.inline_bytes_max < kPlainHeaderBytesMax) return {};
  const size_t before = args->size();
  std::string_view rest = input;
  const int64_t count = take_plain_header(&rest, '*');
  bool complete = count > 0 && count <= limits.multibulk_count_max;
  for (int64_t i = 0; complete && i < count; ++i) {
    const int64_t size = take_plain_header(&rest, '$');
    complete = size >= 0 && size <= limits.bulk_bytes_max &&
               rest.size() >= static_cast<uint64_t>(size) + 2;
    if (!complete) break;
    args->emplace_back(rest.data(), static_cast<size_t>(size));
    rest.remove_prefix(static_cast<size_t>(size) + 2);
  }
  const size_t looked_at = args->size() - before;
  if (complete) return {.bytes = input.size() - rest.size(), .looked_at = looked_at};
  args->resize(before);
  return {.looked_at = looked_at};
}

}  // namespace weir::resp
