// Words of a request: taken apart, compared, and shown in errors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::algorithms {

// At the spaces; several spaces are as one.
std::vector<std::string_view> split_words(std::string_view text);

bool same_word(std::string_view a, std::string_view b);  // in any case

// As an error shows it: 64 bytes of it, and what cannot be printed becomes '?'.
std::string shown(std::string_view word);

// "A", "A or B", "A, B or C".
std::string list_of(std::span<const std::string_view> words);

}  // namespace weir::algorithms
