// What a command's row says, in the words of COMMAND: flags, ACL categories, where the keys stand.
//
// Pure functions of a row; a category or a flag is written down nowhere else.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server/command.h"

namespace weir::server {

// "write", "readonly", "fast" ..., in Redis' order.
std::vector<std::string_view> flag_names(const Command& command);

// "keyspace", "write", "fast" ..., without '@', in Redis' order. Limiters are in "limiter".
std::vector<std::string_view> acl_categories(const Command& command);

// "string", "generic" ... of COMMAND DOCS.
std::string_view group_name(const Command& command);

inline bool has_keys(const Command& command) {
  return command.keys.first > 0 || command.keys.numkeys > 0;
}

// The keys among the arguments of a request whose arity fits.
std::vector<std::string_view> keys_of(const Command& command, Args args);

// How a command uses its keys: "RO" and "access", or "RW", "access" and "update".
std::vector<std::string_view> key_flags(const Command& command);

}  // namespace weir::server
