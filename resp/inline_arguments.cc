// Invariants
// 1. An argument is never longer than the text it came from. So storage reserved once for the whole
//    line never moves, and the views stay valid while it fills.
#include "resp/inline_arguments.h"

#include <cstddef>

#include "base/ascii.h"

namespace weir::resp {
namespace {

// Vertical tab and form feed separate words but do not end one: a quirk that clients may rely on.
bool ends_word(char c) { return is_space(c) && c != '\v' && c != '\f'; }

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

class Splitter {
 public:
  Splitter(std::string_view line, std::string* out) : line_(line), out_(out) {}

  void skip_space() {
    while (position_ < line_.size() && is_space(line_[position_])) ++position_;
  }

  bool at_end() const { return position_ == line_.size(); }

  // Appends one word; false for unbalanced quotes.
  bool read_word() {
    for (; !at_end() && !ends_word(line_[position_]); ++position_) {
      const char c = line_[position_];
      if (c == '"' || c == '\'') return read_quoted(c);
      out_->push_back(c);
    }
    return true;
  }

 private:
  bool read_quoted(char quote) {
    for (++position_; !at_end(); ++position_) {
      const char c = line_[position_];
      if (c == quote) {
        ++position_;
        return at_end() || is_space(line_[position_]);
      }
      if (c == '\\' && position_ + 1 < line_.size()) {
        quote == '"' ? read_escape() : read_single_escape();
      } else {
        out_->push_back(c);
      }
    }
    return false;
  }

  // Both functions leave position_ on the last byte they used.
  void read_escape() {
    const char c = line_[position_ + 1];
    if (c == 'x' && position_ + 3 < line_.size()) {
      const int high = hex_value(line_[position_ + 2]), low = hex_value(line_[position_ + 3]);
      if (high >= 0 && low >= 0) {
        out_->push_back(static_cast<char>(high * 16 + low));
        position_ += 3;
        return;
      }
    }
    out_->push_back(unescaped(c));
    ++position_;
  }

  void read_single_escape() {
    if (line_[position_ + 1] == '\'') ++position_;
    out_->push_back(line_[position_]);
  }

  std::string_view line_;
  std::string* out_;
  size_t position_ = 0;
};

}  // namespace

bool split_arguments(std::string_view line, std::string* storage,
                     std::vector<std::string_view>* arguments) {
  arguments->clear();
  storage->clear();
  storage->reserve(line.size());
  Splitter splitter(line, storage);
  for (splitter.skip_space(); !splitter.at_end(); splitter.skip_space()) {
    const size_t start = storage->size();
    if (!splitter.read_word()) return false;
    arguments->emplace_back(storage->data() + start, storage->size() - start);
  }
  return true;
}

std::string quote_argument(std::string_view argument) {
  constexpr std::string_view kEscaped = "\n\r\t\b\a\"\\";
  constexpr std::string_view kLetters = "nrtba\"\\";
  std::string text = "\"";
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t at = kEscaped.find(c); at != kEscaped.npos) {
      text += {'\\', kLetters[at]};
    } else if (is_printable(c)) {
      text += c;
    } else {
      text += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return text + '"';
}

}  // namespace weir::resp
