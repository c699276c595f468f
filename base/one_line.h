// What other programs say, for a line of the log or of an error: it may take several lines there,
// as many bytes as somebody likes, and characters that a terminal obeys.
#pragma once

#include <string>
#include <string_view>

namespace weir {

inline std::string one_line(std::string_view text, size_t bytes_max = 500) {
  std::string line;
  bool is_gap = false;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    const bool is_space = code <= ' ' || code == 0x7f;
    if (is_gap && !is_space && !line.empty()) line += ' ';
    if (!is_space) line += character;
    is_gap = is_space;
    if (line.size() >= bytes_max) return line + "...";
  }
  return line;
}

}  // namespace weir
