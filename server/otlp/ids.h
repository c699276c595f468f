// Ids of traces and spans as OTLP sends them: the bytes that hexadecimal digits write.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"

namespace weir::server::otlp {

// REQUIRES: the digits are an even number.
inline std::string bytes_of_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(hex_value(digits[i]) << 4 | hex_value(digits[i + 1])));
  return bytes;
}

}  // namespace weir::server::otlp
