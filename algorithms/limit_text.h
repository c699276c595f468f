// Limits as text, as commands take them and as they are shown:
//
//     limit := ALGORITHM rate [option value ...] [adaptive] [ban] [AS name]
//            | rate [option value ...] [adaptive] [ban] [AS name]      a limit of GCRA
//     adaptive := ADAPTIVE min..max [SLOW time]                        adaptive.h
//     ban   := BAN duration AFTER n WITHIN duration                    ban.h
//     rate  := count/period | count PER period | count          rate_text.h has the periods
//
// It is read from left to right: an algorithm's name or a rate opens a limit, each of its options
// takes the next word whatever that word is, and any other word ends the limits.
//
// Policies and bookings are stored as this text, without defaults, so there is one grammar to test.
// Requests are not parsed anew for it: they are found by their words
// (server/limiter/policy/request_cache.h).
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
#include "algorithms/zone.h"
#include "base/result.h"

namespace weir::algorithms {

struct ParsedLimits {
  std::vector<Limit> limits;  // may be empty: no word began a limit
  // What AS named each of them, empty for none; as many as limits, or none if no limit has a name.
  // A name is the request's: it is no part of the limit.
  std::vector<std::string> names;
  size_t words = 0;  // how many words were taken from the front
};

inline constexpr size_t kLimitNameBytesMax = 32;

// What LEASE 30000 means. It is refused, since most who leave out the unit think of seconds; files
// of policies that were written when it was 30 s are read.
enum class BareTimes : uint8_t { kRefused, kMilliseconds };

// The error is a whole sentence: "limit 1 (FIXED): period must be between 1us and 3650d, got '0s'".
// `before` is how many limits there are already, of the kLimitsMax that there may be. Without
// `zones` no name of a zone is accepted.
Result<ParsedLimits, std::string> parse_limits(std::span<const std::string_view> words,
                                               size_t before = 0, const Zones* zones = nullptr,
                                               BareTimes bare_times = BareTimes::kRefused);
// Tells whether parse_limits() would take the first word.
bool begins_limit(std::span<const std::string_view> words);

// Writes a limit so that parse_limits() reads it back as the same limit: "GCRA 100/1m BURST 20".
// With ADAPTIVE that is the limit as it was written, whatever its present count is.
// kShort leaves out options whose value is that which leaving them out means; it is what is stored.
// kWhole leaves out nothing. DO NOT CHANGE what kShort writes: bookings on disk are found by it.
enum class LimitStyle : uint8_t { kShort, kWhole };
std::string format_limit(const Limit& limit, LimitStyle style = LimitStyle::kShort);
// Does the same with the limit's BAN after it, which format_limit() leaves out.
std::string format_with_ban(const Limit& limit, LimitStyle style = LimitStyle::kShort);
// Writes limits with their BAN. Names may be empty, as in ParsedLimits.
std::string format_limits(std::span<const Limit> limits, std::span<const std::string> names = {},
                          LimitStyle style = LimitStyle::kShort);

// Answers what a limit is called: its name, or else its algorithm and its number, "gcra0".
std::string limit_name(std::span<const std::string> names, const Limit& limit, size_t number);
// Tells which two limits are called alike, if any are, as an error message does.
Result<void, std::string> check_names(std::span<const std::string> names,
                                      std::span<const Limit> limits);

// Lists the names of all algorithms, or the options of one, as an error message does.
std::string algorithm_names();
std::string option_names(const Algorithm& algorithm);
// Lists the algorithms whose limits take bookings: "GCRA, TOKENBUCKET with REFILL GREEDY and
// LEAKY".
std::string bookable_names();

// Lists the algorithms that have an option of this name, in any case; empty if none has.
std::string names_with_option(std::string_view option);

// Answers the form of an algorithm's limits: "GCRA count/period [BURST n]", without AS.
std::string grammar_text(const Algorithm& algorithm);

}  // namespace weir::algorithms
