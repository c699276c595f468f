// Glob patterns, as KEYS, SCAN MATCH, CONFIG GET and PSUBSCRIBE take them.
#pragma once

#include <string_view>

namespace weir::resp {

// Tells whether the whole of `text` matches `pattern`:
//   *       any bytes, also none          [abc]  one of these bytes
//   ?       any one byte                  [^abc] any other byte
//   \x      the byte x itself             [a-z]  a range, its ends in either order
// An unterminated '[' ends with the pattern. Time is at most |pattern| * |text|, whatever the
// pattern. `ignore_case` folds ASCII letters.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

}  // namespace weir::resp
