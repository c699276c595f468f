// Glob patterns, as KEYS, SCAN MATCH, CONFIG GET and PSUBSCRIBE take them.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::resp {

// Tells whether the whole of `text` matches `pattern`:
//   *       any bytes, also none          [abc]  one of these bytes
//   ?       any one byte                  [^abc] any other byte
//   \x      the byte x itself             [a-z]  a range, its ends in either order
// An unterminated '[' ends with the pattern. Time is at most 256 * |pattern| + |text| * (|pattern|
// / 64 + a constant), whatever the pattern. `ignore_case` folds ASCII letters.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

// The same with case, and adds to *steps what it took: a step is about a nanosecond.
bool glob_match_counted(std::string_view pattern, std::string_view text, size_t* steps);

}  // namespace weir::resp
