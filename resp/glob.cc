// Invariants
// 1. Only the last '*' seen is ever tried again: whatever an earlier one could still swallow, the
//    last one can.
// 2. What follows it is tried at one place after the other for kPatience steps; after that all
//    places are tried at once, a bit for each element (Shift-And: Baeza-Yates, Gonnet 1992).
#include "resp/glob.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

// The elements between two '*', or after the last one.
class Segment {
 public:
  Segment(const ElementMatcher& matcher, std::string_view pattern, size_t begin)
      : matcher_(matcher), end_(begin) {
    while (end_ < pattern.size() && pattern[end_] != '*') {
      elements_.push_back(end_);
      matcher.accept(&end_, '\0');
    }
    is_last_ = end_ == pattern.size();
  }

  size_t end() const { return end_; }  // in the pattern
  bool is_last() const { return is_last_; }
  size_t size() const { return elements_.size(); }

  // Tells whether it matches right there. REQUIRES: there are size() bytes.
  bool matches(const char* text) const {
    for (size_t element : elements_) {
      if (!matcher_.accept(&element, *text++)) return false;
    }
    return true;
  }

  // Answers where the first match in `text` from `from` on ends. REQUIRES: size() > 0.
  std::optional<size_t> find_end(std::string_view text, size_t from, size_t* steps) {
    const size_t words = (size() + 63) / 64;
    const uint64_t last = uint64_t{1} << (size() - 1) % 64;
    std::vector<uint64_t> begun(words);  // bit i: the i + 1 bytes before here match
    for (size_t t = from; t < text.size(); ++t) {
      const std::vector<uint64_t>& accepting = elements_accepting(text[t], steps);
      *steps += words;
      uint64_t carry = 1;
      for (size_t i = 0; i < words; ++i) {
        const uint64_t moved = begun[i] << 1 | carry;
        carry = begun[i] >> 63;
        begun[i] = moved & accepting[i];
      }
      if ((begun.back() & last) != 0) return t + 1;
    }
    return std::nullopt;
  }

 private:
  const std::vector<uint64_t>& elements_accepting(char c, size_t* steps) {
    std::vector<uint64_t>& accepting = accepting_[static_cast<uint8_t>(c)];
    if (!accepting.empty()) return accepting;
    accepting.resize((size() + 63) / 64);
    *steps += end_ - elements_[0];
    for (size_t i = 0; i < size(); ++i) {
      size_t element = elements_[i];
      if (matcher_.accept(&element, c)) accepting[i / 64] |= uint64_t{1} << i % 64;
    }
    return accepting;
  }

  const ElementMatcher& matcher_;
  std::vector<size_t> elements_;  // where they begin in the pattern
  size_t end_;
  bool is_last_ = false;
  std::array<std::vector<uint64_t>, 256> accepting_;  // by byte; empty: not known yet
};

class Match {
 public:
  Match(std::string_view pattern, std::string_view text, bool ignore_case)
      : pattern_(pattern), text_(text), matcher_(pattern, ignore_case) {}

  bool run() {
    while (t_ < text_.size()) {
      ++steps;
      if (p_ < pattern_.size() && pattern_[p_] == '*') {
        after_star_ = ++p_;
        star_text_ = t_;
        patience_ends_ = steps + kPatience;
        continue;
      }
      if (accept()) continue;
      if (after_star_ == kNone) return false;
      p_ = after_star_;
      t_ = ++star_text_;
      if (steps > patience_ends_) {
        if (const auto result = search()) return *result;
      }
    }
    while (p_ < pattern_.size() && pattern_[p_] == '*') ++p_;
    return p_ == pattern_.size();
  }

  size_t steps = 0;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  static constexpr size_t kPatience = 16'384;

  bool accept() {
    if (p_ == pattern_.size()) return false;
    const size_t begin = p_;
    const bool accepted = matcher_.accept(&p_, text_[t_]);
    steps += p_ - begin;
    t_ += accepted ? 1 : 0;
    return accepted;
  }

  // Looks for all of the segment at p_ in the rest of the text. Nothing: it was found, and the
  // match goes on after it.
  std::optional<bool> search() {
    Segment segment(matcher_, pattern_, p_);
    if (text_.size() - t_ < segment.size()) return false;
    if (segment.is_last()) return segment.matches(text_.data() + text_.size() - segment.size());
    const auto end = segment.find_end(text_, t_, &steps);
    if (!end) return false;
    p_ = segment.end();
    t_ = *end;
    return std::nullopt;
  }

  std::string_view pattern_;
  std::string_view text_;
  ElementMatcher matcher_;
  size_t p_ = 0, t_ = 0;
  size_t after_star_ = kNone, star_text_ = 0;  // to resume when the last '*' takes one more byte
  size_t patience_ends_ = 0;
};

// In Redis' matcher only the empty pattern matches an empty text; in its commands "*" does, too.
bool matches_empty(std::string_view pattern) { return pattern.empty() || pattern == "*"; }

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case) {
  if (text.empty()) return matches_empty(pattern);
  return Match(pattern, text, ignore_case).run();
}

bool glob_match_counted(std::string_view pattern, std::string_view text, size_t* steps) {
  if (text.empty()) return matches_empty(pattern);
  Match match(pattern, text, false);
  const bool matched = match.run();
  *steps += match.steps;
  return matched;
}

}  // namespace weir::resp
