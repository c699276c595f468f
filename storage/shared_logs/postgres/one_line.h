// What libpq and the server say takes several lines, and as many bytes as somebody likes; weir's
// errors take one line of a few.
#pragma once

#include <string>
#include <string_view>

namespace weir::storage::postgres {

inline constexpr size_t kLineBytesMax = 500;

inline std::string one_line(std::string_view text) {
  std::string line;
  bool is_gap = false;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    const bool is_space = code <= ' ' || code == 0x7f;
    if (is_gap && !is_space && !line.empty()) line += ' ';
    if (!is_space) line += character;
    is_gap = is_space;
    if (line.size() >= kLineBytesMax) return line + "...";
  }
  return line;
}

}  // namespace weir::storage::postgres
