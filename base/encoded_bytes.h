// Bytes that others have written as text: as hexadecimal digits, or percent-encoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace weir {

// Nothing, if it is not an even number of digits, in either case.
inline std::optional<std::string> bytes_of_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_value(digits[i]), low = hex_value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

// Text in which %XX is a byte. Nothing, if a '%' has no two digits after it.
inline std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const auto byte = bytes_of_hex(text.substr(i + 1, 2));
    if (!byte || byte->empty()) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

}  // namespace weir
