// Why a rule was refused, in Redis' words. Sent to clients: DO NOT CHANGE.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/result.h"

namespace weir::server::acl {

// Tells whether a text can stand in a word of a line: it has no spaces and no NUL.
inline bool fits_a_word(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return is_space(c) || c == 0; });
}

using Applied = Result<void, std::string_view>;

inline constexpr std::string_view kUnknownName = "Unknown command or category name in ACL";
inline constexpr std::string_view kBadSyntax = "Syntax error";
inline constexpr std::string_view kAllKeysAlready =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
    "any effect. Try 'resetkeys' to start with an empty list of patterns";
inline constexpr std::string_view kAllChannelsAlready =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
    "have any effect. Try 'resetchannels' to start with an empty list of channels";
inline constexpr std::string_view kNoSuchPassword =
    "The password you are trying to remove from the user does not exist";
inline constexpr std::string_view kBadHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters";
inline constexpr std::string_view kLongPassword =
    "A password has at most 16384 bytes, so that it can be sent to log in";
inline constexpr std::string_view kDuplicateUser =
    "Duplicate user found. A user can only be defined once in config files";
inline constexpr std::string_view kFirstArgOfSubcommand =
    "Allowing first-arg of a subcommand is not supported";

}  // namespace weir::server::acl
