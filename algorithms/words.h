// The words of a request as errors show them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::algorithms {

// Shows a word as an error message does: at most 64 bytes, with '?' for bytes that cannot be
// printed.
std::string shown(std::string_view word);

// The same between quotes.
std::string quoted(std::string_view word);

// Shows words with blanks between.
std::string shown_together(std::span<const std::string_view> words);

// Joins words: "A", "A or B", "A, B or C".
std::string list_of(std::span<const std::string_view> words);

}  // namespace weir::algorithms
