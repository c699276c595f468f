// Limits as text, as commands take them and as they are shown:
//
//     limit    := ALGORITHM rate [option value ...]
//     rate     := count "/" duration | count         "100/s" is "100/1s"
//     duration := integer unit                        us ms s m h d w
//
// Read from left to right: an algorithm's name opens a limit, an option of it takes the next word
// whatever that looks like, and any other word ends the limits.
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
#include "algorithms/result.h"

namespace weir::algorithms {

struct ParsedLimits {
  std::vector<Limit> limits;  // may be empty: no word was an algorithm's name
  size_t words = 0;           // taken from the front
};

// The error is a whole sentence: "limit 1 (FIXED): period must be between 1us and 3650d, got '0s'".
Result<ParsedLimits, std::string> parse_limits(std::span<const std::string_view> words);

// What parse_limits() reads back as the same limit: "GCRA 100/1m BURST 20".
std::string format_limit(const Limit& limit);
std::string format_limits(std::span<const Limit> limits);

// In nanoseconds; too large a number answers the largest. Nothing if it is no duration.
std::optional<int64_t> parse_duration(std::string_view text);

// The names of all algorithms, and the options of one, as an error would list them.
std::string algorithm_names();
std::string option_names(const Algorithm& algorithm);

}  // namespace weir::algorithms
