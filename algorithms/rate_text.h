// Rates and durations as text:
//
//     rate     := count "/" duration | count PER duration       100/1m, 100 PER minute
//     duration := [integer] unit                                 a unit alone is one of it
//     unit     := us ms s m h d w                                in lower case
//               | sec second[s] min minute[s] hour[s] day[s] week[s]      in any case
//
// The unit ns is read as well, because a period of the command GCRA may need it to be written.
//
// It must not know limits: which rates are allowed is make_limit()'s business.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "algorithms/grammar.h"
#include "base/result.h"

namespace weir::algorithms {

// The units as an error message names them.
inline constexpr std::string_view kUnitNames = "us ms s m h d w";

// No number, and no duration, is longer; a longer word is none, which is told without reading it.
inline constexpr size_t kNumberBytesMax = 32;

// Reads an integer and a unit as nanoseconds. A number that is too large answers the largest;
// nothing if the text is no duration.
std::optional<int64_t> parse_duration(std::string_view text);
// What parse_duration() takes, as an error message says it.
inline constexpr std::string_view kDurationForm = "an integer and a unit (us ms s m h d w)";
// Reads a duration, or an integer alone, which is milliseconds: how long somebody waits.
std::optional<int64_t> parse_time(std::string_view text);
// What parse_time() takes, as an error message says it.
inline constexpr std::string_view kTimeForm =
    "an integer and a unit (us ms s m h d w), or milliseconds";

// Reads an integer without a superfluous leading zero; one that is too large answers the largest.
std::optional<int64_t> parse_number(std::string_view text);

// Tells whether the words begin as a rate does, right or wrong: "100/60", "1.5/s", "100 PER x".
bool begins_rate(std::span<const std::string_view> words);

// Reads the rate at the front of the words into `written`; answers how many words it took.
Result<size_t, RangeError> parse_rate(Grammar::Rate kind, std::span<const std::string_view> words,
                                      Written& written);

}  // namespace weir::algorithms
