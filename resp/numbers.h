// Numbers as requests and replies carry them.
//
// Pure functions; the process is to stay in the "C" numeric locale. What is accepted and how it is
// written is what Redis 7.0 accepts and writes, to the byte.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::resp {

// Whatever the length of a text, it takes constant time to see that it is no number.

// Reads a decimal integer in its one canonical spelling: no '+', no space, no leading zero, no
// "-0".
std::optional<int64_t> parse_int64(std::string_view text);

// Reads the whole text as strtod() does, hexadecimal and infinities included. Refused are: empty, a
// leading space, NaN, overflow, underflow to zero, more than 5119 bytes.
std::optional<double> parse_double(std::string_view text);

// Reads INCRBYFLOAT's wider type in the same way; at most 5119 bytes. Infinities are accepted,
// because the command itself refuses its result.
std::optional<long double> parse_long_double(std::string_view text);

// Writes 17 significant digits, as ZSCORE replies: "3", "0.10000000000000001", "1e+20", "-0",
// "inf".
std::string format_double(double value);

// Writes 17 decimals without trailing zeros and without an exponent, as INCRBYFLOAT replies: "5",
// "3.14", "0" for -0.
std::string format_long_double_human(long double value);

// Writes the decimal digits to `out`, without a terminator; returns their number.
inline size_t format_int64(int64_t value, char out[20]) {
  return static_cast<size_t>(std::to_chars(out, out + 20, value).ptr - out);
}
inline void append_int64(int64_t value, std::string* out) {
  char digits[20];
  out->append(digits, format_int64(value, digits));
}

}  // namespace weir::resp
