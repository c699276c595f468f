// The lines of a file of policies that say something, and what is wrong with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace weir::server {

// Goes over the lines; blank ones and those that begin with # say nothing.
class FileLines {
 public:
  // `place` is what errors call the file.
  FileLines(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  bool next() {
    while (!text_.empty()) {
      const size_t size = std::min(text_.find('\n'), text_.size());
      line_ = trimmed(text_.substr(0, size));
      text_.remove_prefix(std::min(size + 1, text_.size()));
      ++number_;
      if (!line_.empty() && !line_.starts_with('#')) return true;
    }
    return false;
  }
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  // "policies:12: "
  std::string at() const { return std::string(place_) + ":" + std::to_string(number_) + ": "; }

 private:
  std::string_view text_;
  std::string_view place_;
  std::string_view line_;
  int number_ = 0;
};

// Some wrong lines, one after the other.
class LineErrors {
 public:
  void add(std::string error) {
    if (++count_ > kShownMax) return;
    text_ += (text_.empty() ? "" : "; ") + std::move(error);
  }
  bool any() const { return count_ > 0; }
  std::string text() const {
    if (count_ <= kShownMax) return text_;
    return text_ + "; and " + std::to_string(count_ - kShownMax) + " more";
  }

 private:
  static constexpr size_t kShownMax = 5;

  std::string text_;
  size_t count_ = 0;
};

}  // namespace weir::server
