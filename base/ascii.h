// Letters, digits and blanks of ASCII, whatever the locale; every other byte means nothing here and
// stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

// What separates words: " \t\n\v\f\r".
inline constexpr std::string_view kSpaces = " \t\n\v\f\r";
inline constexpr std::string_view kDigits = "0123456789";
inline constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_printable(char c) { return c >= ' ' && c <= '~'; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}

inline std::string to_lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = to_lower(c);
  return folded;
}
inline std::string to_upper(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = to_upper(c);
  return folded;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

// Answers a hexadecimal digit's value, in either case; -1 for any other byte.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Writes two lower-case digits for each byte.
inline std::string hex_text(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) text += {kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  return text;
}

// Takes the bytes of `set` off both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view set = kSpaces) {
  const size_t first = text.find_first_not_of(set);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(set) - first + 1);
}

// Splits at spaces; several count as one. The words are views of the text.
inline std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t end = 0, begin = text.find_first_not_of(kSpaces); begin < text.size();
       begin = text.find_first_not_of(kSpaces, end)) {
    end = text.find_first_of(kSpaces, begin);
    words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

}  // namespace weir
