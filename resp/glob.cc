// Invariants
// 1. Only the last '*' seen is ever tried again: whatever an earlier one could still swallow, the
//    last one can. So time is at most |pattern| * |text|.
#include "resp/glob.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace weir::resp {
namespace {

// Matches single bytes against single pattern elements (anything but '*').
class ElementMatcher {
 public:
  ElementMatcher(std::string_view pattern, bool ignore_case)
      : pattern_(pattern), ignore_case_(ignore_case) {}

  // Tells whether the element at *position accepts `c`. If it does, steps over the element.
  bool accept(size_t* position, char c) const {
    const size_t start = *position;
    switch (pattern_[start]) {
      case '?':
        *position = start + 1;
        return true;
      case '[':
        return accept_class(position, c);
      case '\\':
        if (start + 1 < pattern_.size()) {
          *position = start + 2;
          return same(pattern_[start + 1], c);
        }
        [[fallthrough]];
      default:
        *position = start + 1;
        return same(pattern_[start], c);
    }
  }

 private:
  bool same(char a, char b) const { return fold(a) == fold(b); }
  char fold(char c) const { return ignore_case_ ? to_lower(c) : c; }

  // The bounds are compared as signed bytes and put in order before they are folded. These quirks
  // decide which keys a pattern names, so they are kept.
  bool in_range(char first, char last, char c) const {
    const bool reversed = static_cast<signed char>(first) > static_cast<signed char>(last);
    const char low = reversed ? last : first, high = reversed ? first : last;
    const auto folded = [this](char byte) { return static_cast<signed char>(fold(byte)); };
    return folded(c) >= folded(low) && folded(c) <= folded(high);
  }

  bool accept_class(size_t* position, char c) const {
    const size_t end = pattern_.size();
    size_t i = *position + 1;
    const bool negated = i < end && pattern_[i] == '^';
    if (negated) ++i;
    bool found = false;
    while (i < end && pattern_[i] != ']') {
      if (pattern_[i] == '\\' && end - i >= 2) {
        // Escaped bytes are compared as they are, even where case is ignored.
        found |= pattern_[i + 1] == c;
        i += 2;
      } else if (end - i >= 3 && pattern_[i + 1] == '-') {
        found |= in_range(pattern_[i], pattern_[i + 2], c);
        i += 3;
      } else {
        found |= same(pattern_[i], c);
        ++i;
      }
    }
    *position = std::min(i + 1, end);
    return found != negated;
  }

  std::string_view pattern_;
  bool ignore_case_;
};

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case) {
  // In Redis' matcher only the empty pattern matches an empty text; in its commands "*" does, too.
  if (text.empty()) return pattern.empty() || pattern == "*";
  constexpr size_t kNone = static_cast<size_t>(-1);
  const ElementMatcher matcher(pattern, ignore_case);
  size_t p = 0, t = 0;
  size_t after_star = kNone,
         star_text = 0;  // where to resume when the last '*' takes one more byte
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_text = t;
      continue;
    }
    if (p < pattern.size() && matcher.accept(&p, text[t])) {
      ++t;
      continue;
    }
    if (after_star == kNone) return false;
    p = after_star;
    t = ++star_text;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace weir::resp
