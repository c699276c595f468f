// The words of a request: taken apart, compared, and shown in errors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::algorithms {

// Splits a text at its spaces; several spaces count as one.
std::vector<std::string_view> split_words(std::string_view text);

bool same_word(std::string_view a, std::string_view b);  // in any case

// Shows a word as an error message does: at most 64 bytes, with '?' for bytes that cannot be
// printed.
std::string shown(std::string_view word);

// Joins words: "A", "A or B", "A, B or C".
std::string list_of(std::span<const std::string_view> words);

}  // namespace weir::algorithms
