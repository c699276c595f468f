// What a client may say about itself: its name, its library's name and version.
#pragma once

#include <algorithm>
#include <string_view>

namespace weir::server {

inline constexpr std::string_view kClientNameError =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// Printable ASCII without blanks, so that a line of CLIENT LIST stays one. May be empty.
inline bool is_client_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace weir::server
