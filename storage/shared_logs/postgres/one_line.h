// What libpq and the server say takes several lines; weir's errors take one.
#pragma once

#include <string>
#include <string_view>

namespace weir::storage::postgres {

inline std::string one_line(std::string_view text) {
  std::string line;
  bool is_gap = false;
  for (const char character : text) {
    const bool is_space = static_cast<unsigned char>(character) <= ' ';
    if (is_gap && !is_space && !line.empty()) line += ' ';
    if (!is_space) line += character;
    is_gap = is_space;
  }
  return line;
}

}  // namespace weir::storage::postgres
