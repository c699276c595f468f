// The words of a configuration line: splitting, quoting, sizes, and bytes made fit to print.
//
// Pure functions; no option is known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

// Splits a line into words, quotes undone as in resp/inline_arguments.h. Nothing if quotes do not
// close, or close inside a word.
std::optional<std::vector<std::string>> split_words(std::string_view line);

// Splits at spaces only.
std::vector<std::string> split_blanks(std::string_view text);

// Writes a word that split_words reads back as `text`; without quotes if that gives the same.
std::string quote_word(std::string_view text);

// Reads bytes: digits and an optional unit b, k, kb, m, mb, g, gb in any case; k is 1000, kb is
// 1024.
std::optional<int64_t> parse_size(std::string_view text);

// Writes the shortest exact spelling in gb, mb, kb or plain bytes.
std::string format_size(int64_t bytes);

// Writes `text` in single quotes on one line: control bytes as \xHH, cut after 64 bytes.
std::string printable(std::string_view text);

}  // namespace weir::server
