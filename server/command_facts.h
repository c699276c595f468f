// What a command's row says, in the words of COMMAND: flags, ACL categories, where the keys stand.
//
// Pure functions of a row; a category or a flag is written down nowhere else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/command.h"

namespace weir::server {

// "write", "readonly", "fast" ..., in Redis' order.
std::vector<std::string_view> flag_names(const Command& command);

// "keyspace", "write", "fast" ..., without '@', in Redis' order. Limiters are in "ratelimit".
std::vector<std::string_view> acl_categories(const Command& command);
// All there are, in Redis' order and then our own.
std::span<const std::string_view> all_acl_categories();

// "nondeterministic_output", "request_policy:all_shards" ...
std::vector<std::string_view> tips(const Command& command);

// "string", "generic" ... of COMMAND DOCS.
std::string_view group_name(const Command& command);

inline bool has_keys(const Command& command) {
  return (command.keys.first > 0 || command.keys.numkeys > 0) && command.keys.use != KeyUse::kNoKey;
}

// The keys among the arguments of a request whose arity fits, and what becomes of each.
std::vector<KeyReference> find_keys(const Command& command, Args args);
std::vector<std::string_view> keys_of(const Command& command, Args args);

// The uses of a row's first key and of its others, kAsFlags resolved.
KeyUse first_use(const Command& command);
KeyUse others_use(const Command& command);
// "RW", "access", "update" ..., as COMMAND has them.
std::vector<std::string_view> use_names(KeyUse use);
// The rights that a use asks for: to read what the key holds, to change it.
bool needs_reading(KeyUse use);
bool needs_writing(KeyUse use);

}  // namespace weir::server
