// The arguments of commands, and the words in which Redis refuses them.
//
// A function that takes a Call replies the error itself, and its caller then returns
// (error_replied.h). Nothing here touches the keyspace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"

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

Result<int64_t, ErrorReplied> integer_argument(Call& call, std::string_view text);
// Reads an integer of 32 bits.
Result<int32_t, ErrorReplied> small_integer_argument(Call& call, std::string_view text);
// Reads a count of random elements: any integer but the smallest, which has no opposite.
Result<int64_t, ErrorReplied> count_argument(Call& call, std::string_view text);
// Reads an integer of 0 or more.
Result<int64_t, ErrorReplied> positive_argument(Call& call, std::string_view text);
// Reads the LIMIT of a count; 0 means none.
Result<int64_t, ErrorReplied> limit_argument(Call& call, std::string_view text);
// Reads the number of a database that exists.
Result<int, ErrorReplied> database_argument(Call& call, std::string_view text);

// The time that a key shall live (relative), or its end by the wall clock (absolute), as a command
// was given it.
struct ExpireArgument {
  std::string_view text;
  bool in_seconds = false;
  bool absolute = false;
};

// Answers the instant that is meant, in milliseconds; only times and instants above zero are
// accepted.
Result<int64_t, ErrorReplied> expire_at_argument(Call& call, const ExpireArgument& argument);
// Answers the same for EXPIRE and its like, which accept instants in the past.
Result<int64_t, ErrorReplied> any_expire_at_argument(Call& call, const ExpireArgument& argument);

// The longest pattern that is compared with names: far longer than any that somebody writes.
inline constexpr size_t kPatternBytesMax = 4096;
// Checks that a pattern is short enough.
Result<void, ErrorReplied> check_pattern(Call& call, std::string_view pattern);
// Tells whether a name matches a pattern (resp/glob.h), and charges what that takes.
bool matches_pattern(const Call& call, std::string_view pattern, std::string_view name);

// Answers the bytes up to the first NUL, which is where C's strings end.
std::string_view up_to_nul(std::string_view text);
// Answers what an error shows of an argument: as in Redis what comes before a NUL, but no more than
// kShownBytesMax.
inline constexpr size_t kShownBytesMax = 1024;
std::string_view shown_part(std::string_view argument);

}  // namespace weir::server
