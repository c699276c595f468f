#include "algorithms/words.h"

#include <algorithm>

#include "base/ascii.h"

namespace weir::algorithms {
namespace {

constexpr size_t kShownMax = 64;

}  // namespace

std::string shown(std::string_view word) {
  std::string text(word.substr(0, kShownMax));
  std::ranges::replace_if(
      text, [](char c) { return !is_printable(c); }, '?');
  return text;
}

std::string quoted(std::string_view word) { return "'" + shown(word) + "'"; }

std::string shown_together(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text.append(text.empty() ? "" : " ").append(shown(word));
  return text;
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

}  // namespace weir::algorithms
