#include "server/report/error_metrics.h"

#include <algorithm>

namespace weir::server {
namespace {

constexpr size_t kWordBytesMax = 64;

// Bytes that would break INFO's lines and fields are shown as '_'.
std::string shown(std::string_view word) {
  std::string text(word.substr(0, kWordBytesMax));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c == '#' || c == ':' || static_cast<unsigned char>(c) < ' '; }, '_');
  return text;
}

}  // namespace

void ErrorMetrics::note(std::string_view line) {
  if (line.starts_with('-')) line.remove_prefix(1);
  const std::string word = shown(line.substr(0, line.find_first_of(" \r\n")));
  const auto found = counts_.find(word);
  if (found != counts_.end()) {
    ++found->second;
  } else if (counts_.size() < kWordsMax) {
    counts_.emplace(word, 1);
  } else {
    ++counts_[std::string(kOverflow)];
  }
}

}  // namespace weir::server
