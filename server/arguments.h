// Arguments as commands read them, and the words in which Redis refuses them.
//
// A function that takes a Call and answers an optional has replied the error itself when it answers
// nothing; the caller then just returns. Nothing here touches the keyspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command.h"

namespace weir::server {

// On the wire: DO NOT CHANGE.
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
inline constexpr std::string_view kDatabaseOutOfRange = "ERR DB index is out of range";
inline constexpr std::string_view kNoSuchKeyError = "ERR no such key";
inline constexpr std::string_view kSameObject = "ERR source and destination objects are the same";

// "ERR invalid expire time in 'set' command"
std::string expire_time_error(const Command& command);

std::optional<int64_t> integer_argument(Call& call, std::string_view text);
// Within 32 bits.
std::optional<int32_t> small_integer_argument(Call& call, std::string_view text);
// Of random elements: any but the smallest integer, whose opposite is none.
std::optional<int64_t> count_argument(Call& call, std::string_view text);
// 0 or more.
std::optional<int64_t> positive_argument(Call& call, std::string_view text);
// The number of a database that exists.
std::optional<int> database_argument(Call& call, std::string_view text);

// The time a key shall live (relative) or shall end (absolute), as a command was given it.
struct ExpireArgument {
  std::string_view text;
  bool in_seconds = false;
  bool absolute = false;
};

// The instant it means, in milliseconds; only times and instants above zero are accepted.
std::optional<int64_t> expire_at_argument(Call& call, const ExpireArgument& argument);
// The same for EXPIRE and its like, which accept what lies in the past.
std::optional<int64_t> any_expire_at_argument(Call& call, const ExpireArgument& argument);

// Bytes up to the first NUL: how Redis shows what it was given in an error.
std::string_view shown_part(std::string_view argument);

}  // namespace weir::server
