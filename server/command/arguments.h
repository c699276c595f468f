// The arguments of commands, and the words in which Redis refuses them.
//
// A function that takes a Call and answers an optional replies the error itself before it answers
// nothing; the caller then returns. Nothing here touches the keyspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"

namespace weir::server {

// Sent to clients: DO NOT CHANGE.
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
inline constexpr std::string_view kDatabaseOutOfRange = "ERR DB index is out of range";
inline constexpr std::string_view kNoSuchKeyError = "ERR no such key";
inline constexpr std::string_view kSameObject = "ERR source and destination objects are the same";

// Writes "ERR invalid expire time in 'set' command".
std::string expire_time_error(const Command& command);

std::optional<int64_t> integer_argument(Call& call, std::string_view text);
// Reads an integer of 32 bits.
std::optional<int32_t> small_integer_argument(Call& call, std::string_view text);
// Reads a count of random elements: any integer but the smallest, which has no opposite.
std::optional<int64_t> count_argument(Call& call, std::string_view text);
// Reads an integer of 0 or more.
std::optional<int64_t> positive_argument(Call& call, std::string_view text);
// Reads the number of a database that exists.
std::optional<int> database_argument(Call& call, std::string_view text);

// The time that a key shall live (relative), or its end (absolute), as a command was given it.
struct ExpireArgument {
  std::string_view text;
  bool in_seconds = false;
  bool absolute = false;
};

// Answers the instant that is meant, in milliseconds; only times and instants above zero are
// accepted.
std::optional<int64_t> expire_at_argument(Call& call, const ExpireArgument& argument);
// Answers the same for EXPIRE and its like, which accept instants in the past.
std::optional<int64_t> any_expire_at_argument(Call& call, const ExpireArgument& argument);

// The longest pattern that is compared with names: far longer than any that somebody writes.
inline constexpr size_t kPatternBytesMax = 4096;
// Tells whether a pattern is short enough; replies an error otherwise.
bool pattern_fits(Call& call, std::string_view pattern);
// Tells whether a name matches a pattern (resp/glob.h), and charges what that takes.
bool matches_pattern(const Call& call, std::string_view pattern, std::string_view name);

// Answers the bytes up to the first NUL: this is how Redis shows an argument in an error.
std::string_view shown_part(std::string_view argument);

}  // namespace weir::server
