// Limits as text, as commands take them and as they are shown:
//
//     limit    := ALGORITHM rate [option value ...]
//     rate     := count "/" duration | count         "100/s" is "100/1s"
//     duration := integer unit                        us ms s m h d w
//
// It is read from left to right: an algorithm's name opens a limit, each of its options takes the
// next word whatever that word is, and any other word ends the limits.
//
// It must not know commands or what follows the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit.h"
#include "base/result.h"

namespace weir::algorithms {

struct ParsedLimits {
  std::vector<Limit> limits;  // may be empty: no word was an algorithm's name
  size_t words = 0;           // how many words were taken from the front
};

// The error is a whole sentence: "limit 1 (FIXED): period must be between 1us and 3650d, got '0s'".
Result<ParsedLimits, std::string> parse_limits(std::span<const std::string_view> words);

// Writes a limit so that parse_limits() reads it back as the same limit: "GCRA 100/1m BURST 20".
std::string format_limit(const Limit& limit);
std::string format_limits(std::span<const Limit> limits);

// Reads a duration in nanoseconds. A number that is too large answers the largest; nothing if the
// text is no duration.
std::optional<int64_t> parse_duration(std::string_view text);

// Lists the names of all algorithms, or the options of one, as an error message does.
std::string algorithm_names();
std::string option_names(const Algorithm& algorithm);
// Lists the algorithms whose limits take bookings: "GCRA, TOKENBUCKET with REFILL GREEDY and
// LEAKY".
std::string bookable_names();

// Answers the form of an algorithm's limits: "GCRA count/period [BURST n]".
std::string grammar_text(const Algorithm& algorithm);

}  // namespace weir::algorithms
