#include "resp/numbers.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/ascii.h"

namespace weir::resp {
namespace {

constexpr size_t kInt64BytesMax = 20;  // "-9223372036854775808"
// The longest text of a long double: 4933 digits, a sign, 17 decimals and their point, with room.
constexpr size_t kLongDoubleBytesMax = 5 * 1024;

// Reads a number. `text` ends with a NUL at text[size]. A NUL inside makes strtod stop early, so it
// is refused too.
template <typename Float>
std::optional<Float> parse_float(const char* text, size_t size,
                                 Float (*convert)(const char*, char**), Float overflow) {
  if (size == 0 || is_space(*text)) return std::nullopt;
  char* end = nullptr;
  const int errno_before = errno;
  errno = 0;
  const Float value = convert(text, &end);
  const bool out_of_range = errno == ERANGE && (std::abs(value) == overflow || value == 0);
  errno = errno_before;
  if (end != text + size || out_of_range || std::isnan(value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> parse_int64(std::string_view text) {
  // The fast way: up to 18 digits, which cannot overflow, the first of them not zero.
  if (text.size() - 1 < 18 && text[0] != '0') {
    int64_t number = 0;
    size_t i = 0;
    for (; i < text.size(); ++i) {
      const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
      if (digit > 9) break;
      number = number * 10 + digit;
    }
    if (i == text.size()) return number;
  }
  if (text.size() > kInt64BytesMax) return std::nullopt;
  // from_chars takes neither '+' nor spaces; only leading zeros and "-0" are left to refuse.
  const size_t digits = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() > digits && text[digits] == '0' && text.size() > 1) return std::nullopt;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  char small[64];
  if (text.size() < sizeof(small)) {
    small[text.copy(small, text.size())] = '\0';
    return parse_float<double>(small, text.size(), std::strtod, HUGE_VAL);
  }
  if (text.size() >= kLongDoubleBytesMax) return std::nullopt;
  const std::string copy(text);
  return parse_float<double>(copy.c_str(), copy.size(), std::strtod, HUGE_VAL);
}

std::optional<long double> parse_long_double(std::string_view text) {
  if (text.size() >= kLongDoubleBytesMax) return std::nullopt;
  const std::string copy(text);
  return parse_float<long double>(copy.c_str(), copy.size(), std::strtold, HUGE_VALL);
}

std::string format_double(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  const int size = std::snprintf(text, sizeof(text), "%.17g", value);
  return std::string(text, static_cast<size_t>(size));
}

std::string format_long_double_human(long double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[kLongDoubleBytesMax];
  int size = std::snprintf(text, sizeof(text), "%.17Lf", value);
  if (std::memchr(text, '.', static_cast<size_t>(size)) != nullptr) {
    while (text[size - 1] == '0') --size;
    if (text[size - 1] == '.') --size;
  }
  const std::string_view trimmed(text, static_cast<size_t>(size));
  return std::string(trimmed == "-0" ? "0" : trimmed);
}

}  // namespace weir::resp
