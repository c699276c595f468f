// The three bytes that some editors write at the beginning of a file in UTF-8. They are no part of
// its text.
#pragma once

#include <string_view>

namespace weir {

constexpr std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace weir
