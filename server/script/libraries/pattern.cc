#include "server/script/libraries/pattern.h"

#include <cctype>
#include <cstdint>
#include <cstring>
#include <lua.hpp>

#include "server/script/lua/looks.h"

namespace weir::server::script {
namespace {

constexpr char kPatternEscape = '%';
constexpr size_t kStepsPerCharge = 4096;

int byte_of(char c) { return static_cast<uint8_t>(c); }

// Tells whether `c` is in the class that `letter` names; if it names none, whether they are equal.
bool in_class(int c, int letter) {
  bool in = false;
  switch (std::tolower(letter)) {
    case 'a':
      in = std::isalpha(c) != 0;
      break;
    case 'c':
      in = std::iscntrl(c) != 0;
      break;
    case 'd':
      in = std::isdigit(c) != 0;
      break;
    case 'l':
      in = std::islower(c) != 0;
      break;
    case 'p':
      in = std::ispunct(c) != 0;
      break;
    case 's':
      in = std::isspace(c) != 0;
      break;
    case 'u':
      in = std::isupper(c) != 0;
      break;
    case 'w':
      in = std::isalnum(c) != 0;
      break;
    case 'x':
      in = std::isxdigit(c) != 0;
      break;
    case 'z':
      in = c == 0;
      break;
    default:
      return letter == c;
  }
  return std::isupper(letter) != 0 ? !in : in;
}

// [set, end) is a set from its '[' on; end follows its ']'.
bool in_set(int c, const char* set, const char* end) {
  const char* const last = end - 1;
  const char* at = set + 1;
  const bool negated = *at == '^';
  if (negated) ++at;
  while (at < last) {
    if (*at == kPatternEscape) {
      if (in_class(c, byte_of(at[1]))) return !negated;
      at += 2;
    } else if (at[1] == '-' && at + 2 < last) {
      if (byte_of(at[0]) <= c && c <= byte_of(at[2])) return !negated;
      at += 3;
    } else if (byte_of(*at++) == c) {
      return !negated;
    }
  }
  return negated;
}

}  // namespace

PatternMatch::PatternMatch(lua_State* L, const char* text, size_t size)
    : L_(L), text_(text), text_end_(text + size) {}

const char* PatternMatch::match_at(const char* at, const char* pattern) {
  captures_used_ = 0;
  depth_ = 0;
  return match(at, pattern);
}

void PatternMatch::step(size_t work) {
  work_ += work;
  if (work_ < kStepsPerCharge) return;
  const size_t done = work_;
  work_ = 0;
  charge(L_, 2 * done);
}

const char* PatternMatch::match(const char* at, const char* pattern) {
  if (++depth_ > kDepthMax) luaL_error(L_, "pattern too complex");
  const char* end = match_items(at, pattern);
  --depth_;
  return end;
}

// Follows the pattern while there is one way to go on; where there are several, match() tries each.
const char* PatternMatch::match_items(const char* at, const char* pattern) {
  for (;;) {
    step(1);
    if (*pattern == '\0') return at;
    if (*pattern == '(') return open_capture(at, pattern + 1);
    if (*pattern == ')') return close_capture(at, pattern + 1);
    if (*pattern == '$' && pattern[1] == '\0') return at == text_end_ ? at : nullptr;
    if (*pattern == kPatternEscape && pattern[1] == 'b') {
      at = match_balanced(at, pattern + 2);
      if (at == nullptr) return nullptr;
      pattern += 4;
      continue;
    }
    if (*pattern == kPatternEscape && pattern[1] == 'f') {
      const char* const set = pattern + 2;
      if (*set != '[') luaL_error(L_, "missing '[' after '%%f' in pattern");
      pattern = end_of_item(set);
      if (!at_frontier(at, set, pattern)) return nullptr;
      continue;
    }
    if (*pattern == kPatternEscape && std::isdigit(byte_of(pattern[1])) != 0) {
      at = match_again(at, pattern[1]);
      if (at == nullptr) return nullptr;
      pattern += 2;
      continue;
    }
    const char* const item_end = end_of_item(pattern);
    if (*item_end == '*') return match_longest(at, pattern, item_end);
    if (*item_end == '-') return match_shortest(at, pattern, item_end);
    const bool accepted = accepts(at, pattern, item_end);
    if (*item_end == '?') {
      if (accepted) {
        if (const char* end = match(at + 1, item_end + 1)) return end;
      }
      pattern = item_end + 1;
      continue;
    }
    if (!accepted) return nullptr;
    if (*item_end == '+') return match_longest(at + 1, pattern, item_end);
    ++at;
    pattern = item_end;
  }
}

// Opens a capture; `pattern` points after the parenthesis.
const char* PatternMatch::open_capture(const char* at, const char* pattern) {
  const bool position = *pattern == ')';
  if (captures_used_ >= kCapturesMax) luaL_error(L_, "too many captures");
  captures_[captures_used_++] = {at, position ? kPosition : kOpen};
  const char* end = match(at, position ? pattern + 1 : pattern);
  if (end == nullptr) --captures_used_;
  return end;
}

const char* PatternMatch::close_capture(const char* at, const char* pattern) {
  int index = captures_used_ - 1;
  while (index >= 0 && captures_[index].size != kOpen) --index;
  if (index < 0) luaL_error(L_, "invalid pattern capture");
  captures_[index].size = at - captures_[index].begin;
  const char* end = match(at, pattern);
  if (end == nullptr) captures_[index].size = kOpen;
  return end;
}

const char* PatternMatch::match_longest(const char* at, const char* item, const char* item_end) {
  const auto width = static_cast<size_t>(item_end - item);
  const char* last = at;
  while (accepts(last, item, item_end)) {
    ++last;
    step(width);
  }
  for (;; --last) {
    if (const char* end = match(last, item_end + 1)) return end;
    if (last == at) return nullptr;
  }
}

const char* PatternMatch::match_shortest(const char* at, const char* item, const char* item_end) {
  const auto width = static_cast<size_t>(item_end - item);
  for (;; ++at) {
    if (const char* end = match(at, item_end + 1)) return end;
    if (!accepts(at, item, item_end)) return nullptr;
    step(width);
  }
}

const char* PatternMatch::match_balanced(const char* at, const char* pair) {
  if (pair[0] == '\0' || pair[1] == '\0') luaL_error(L_, "unbalanced pattern");
  if (at == text_end_ || *at != pair[0]) return nullptr;
  size_t open = 1;
  for (const char* next = at + 1; next < text_end_; ++next) {
    step(1);
    if (*next == pair[1]) {
      if (--open == 0) return next + 1;
    } else if (*next == pair[0]) {
      ++open;
    }
  }
  return nullptr;
}

// Matches what an earlier capture holds.
const char* PatternMatch::match_again(const char* at, char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= captures_used_ || captures_[index].size == kOpen)
    luaL_error(L_, "invalid capture index");
  const Capture& capture = captures_[index];
  if (capture.size < 0 || text_end_ - at < capture.size) return nullptr;
  const auto size = static_cast<size_t>(capture.size);
  step(size / 8);
  return std::memcmp(capture.begin, at, size) == 0 ? at + size : nullptr;
}

// Tells whether `at` is at a frontier. Both ends of the text count as NUL.
bool PatternMatch::at_frontier(const char* at, const char* set, const char* set_end) const {
  const int before = at == text_ ? 0 : byte_of(at[-1]);
  const int after = at == text_end_ ? 0 : byte_of(*at);
  return !in_set(before, set, set_end) && in_set(after, set, set_end);
}

bool PatternMatch::accepts(const char* at, const char* item, const char* item_end) const {
  if (at == text_end_) return false;
  const int c = byte_of(*at);
  if (*item == '.') return true;
  if (*item == kPatternEscape) return in_class(c, byte_of(item[1]));
  if (*item == '[') return in_set(c, item, item_end);
  return byte_of(*item) == c;
}

// Answers the end of one item, before the sign for repetition.
const char* PatternMatch::end_of_item(const char* item) {
  const char* at = item + 1;
  if (*item == kPatternEscape) {
    if (*at == '\0') luaL_error(L_, "malformed pattern (ends with '%%')");
    return at + 1;
  }
  if (*item != '[') return at;
  if (*at == '^') ++at;
  do {  // a ']' that comes first stands for itself
    if (*at == '\0') luaL_error(L_, "malformed pattern (missing ']')");
    const bool escape = *at++ == kPatternEscape;
    if (escape && *at != '\0') ++at;
  } while (*at != ']');
  step(static_cast<size_t>(at - item));
  return at + 1;
}

int PatternMatch::push_captures(const char* begin, const char* end) {
  const int count = captures_used_ == 0 && begin != nullptr ? 1 : captures_used_;
  luaL_checkstack(L_, count, "too many captures");
  for (int i = 0; i < count; ++i) push_capture(i, begin, end);
  return count;
}

void PatternMatch::push_capture(int index, const char* begin, const char* end) {
  if (index >= captures_used_) {
    if (index != 0) luaL_error(L_, "invalid capture index");
    lua_pushlstring(L_, begin, static_cast<size_t>(end - begin));
    return;
  }
  const Capture& capture = captures_[index];
  if (capture.size == kOpen) luaL_error(L_, "unfinished capture");
  if (capture.size == kPosition) {
    lua_pushinteger(L_, capture.begin - text_ + 1);
  } else {
    lua_pushlstring(L_, capture.begin, static_cast<size_t>(capture.size));
  }
}

}  // namespace weir::server::script
