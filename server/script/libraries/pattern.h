// Lua's patterns: one attempt to match at one place.
//
// Lua's own matcher runs for as long as a pattern makes it, and recurses as deep as the pattern is
// long: one call of string.find can stop the server, another can end it. This matcher answers as
// Lua's does, charges for each step, and refuses patterns nested deeper than kDepthMax.
//
// Invariants
// 1. A pattern ends where Lua 5.1 ends it, at its first NUL.
// 2. It keeps nothing that needs a destructor, because it raises, and an error may leave it at any
//    step.
#pragma once

#include <cstddef>

struct lua_State;

namespace weir::server::script {

class PatternMatch {
 public:
  // `pattern` ends with a NUL, as Lua's strings do.
  PatternMatch(lua_State* L, const char* text, size_t size);

  // Answers where the match that begins at `at` ends; null if there is none.
  const char* match_at(const char* at, const char* pattern);

  // Pushes the captures, and answers how many there are. If the pattern has none, the whole match,
  // [begin, end), counts as one, unless begin is null.
  int push_captures(const char* begin, const char* end);
  void push_capture(int index, const char* begin, const char* end);

 private:
  static constexpr int kCapturesMax = 32;
  static constexpr int kDepthMax = 4000;
  static constexpr ptrdiff_t kOpen = -1;
  static constexpr ptrdiff_t kPosition = -2;

  struct Capture {
    const char* begin;
    ptrdiff_t size;  // or one of the two above
  };

  void step(size_t work);
  const char* match(const char* at, const char* pattern);
  const char* match_items(const char* at, const char* pattern);
  const char* open_capture(const char* at, const char* pattern);
  const char* close_capture(const char* at, const char* pattern);
  const char* match_longest(const char* at, const char* item, const char* item_end);
  const char* match_shortest(const char* at, const char* item, const char* item_end);
  const char* match_balanced(const char* at, const char* pair);
  const char* match_again(const char* at, char digit);
  bool at_frontier(const char* at, const char* set, const char* set_end) const;
  bool accepts(const char* at, const char* item, const char* item_end) const;
  const char* end_of_item(const char* item);

  lua_State* L_;
  const char* text_;
  const char* text_end_;
  size_t work_ = 0;
  int depth_ = 0;
  int captures_used_ = 0;
  Capture captures_[kCapturesMax];
};

}  // namespace weir::server::script
